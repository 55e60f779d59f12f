package citation_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

var fuzzSeeds = []string{
	"A [CIT-3-01][CIT-3-02], [CIT-3-1, CIT-9-9], (CIT-3-01) 【CIT-3-01】 [[CIT-3-01](#ref-cit-3-01)] [7] arr[2]",
	"`code [CIT-3-01]` and\n\n```\n[7] [CIT-9-99]\n```\n\n    [CIT-3-01]\n\n[x](https://evil.org) ![y](z) <a href=x>",
	"[[[[9]CIT-3-01]]](([9])) [CIT-3[9]-01] \\[7\\] $[7]$ \\",
	"[^7] [7]: https://x.org\n<https://example.org> https://example.org/a_(b)?q=1 www.x.org",
	"[a [b](c) [CIT-3-01]](https://x.org)(d)",
	"[a `](x)` b](https://x.org) ` [CIT-3-01] `",
	"0000000000000000000000[CIT-3-1]0(CIT-3-1)0【CIT-3-1】",
}

// FuzzResolve: resolving twice is resolving once, what is left resolves, code is untouched.
func FuzzResolve(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	r := registry()
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 4000 {
			return
		}
		once, _, _ := r.Resolve(in)
		if twice, more, _ := r.Resolve(once); twice != once || len(more) > 0 {
			t.Fatalf("not stable\n   in %q\n once %q\ntwice %q %v", in, once, twice, more)
		}
	})
}

// FuzzReferences: every citation of a report has its reference and every reference its citation, and numbers run from 1
// to n.
func FuzzReferences(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, false)
		f.Add(s, true)
	}
	r := registry()
	f.Fuzz(func(t *testing.T, in string, numbered bool) {
		if len(in) > 4000 {
			return
		}
		o := citation.Options{Style: topicqueue.CitationAnchors}
		if numbered {
			o.Style = topicqueue.CitationNumbered
		}
		text, _, _ := r.Resolve(in)
		cited := report.Cited(report.Parse(text))
		tree := report.Report{References: r.References(cited, o)}
		labels, n := tree.Labels(), 0
		for _, id := range cited {
			if labels[id] == "" {
				t.Fatalf("%s has no reference in %q", id, text)
			}
		}
		if len(labels) != len(cited) {
			t.Fatalf("%d references for %v", len(labels), cited)
		}
		for _, ref := range tree.References {
			for _, e := range ref.Entries {
				if n++; numbered && e.Label != strconv.Itoa(n) {
					t.Fatalf("number %s in place %d", e.Label, n)
				}
			}
		}
	})
}

var turning = regexp.MustCompile("[\u202a-\u202e\u2066-\u2069]")

// FuzzEscape: what is escaped is shown as it was, but for what turns the order of text, holds no marker, and stays
// one line.
func FuzzEscape(f *testing.F) {
	for _, s := range append(fuzzSeeds, "# x", "1) y", "a_b_ \\* &lt; <b", "CIT-3-01 PLAN-01") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := markdown.Escape(in)
		ordered := turning.ReplaceAllString(strings.ToValidUTF8(in, "\uFFFD"), "")
		if want := strings.Join(strings.Fields(ordered), " "); markdown.Plain(got) != want {
			t.Fatalf("Unescape(%q) = %q, want %q", got, markdown.Plain(got), want)
		}
		if out := report.Parse(got); len(report.Cited(out)) > 0 || report.Canonical(out) != got {
			t.Fatalf("%q became %q with %v", got, report.Canonical(out), report.Cited(out))
		}
	})
}

// TestHostileText: text that is made to be slow takes no longer than its length allows.
func TestHostileText(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	const n = 20_000
	for name, in := range map[string]string{
		"open brackets":   strings.Repeat("[", n),
		"nested brackets": strings.Repeat("[", n) + "9" + strings.Repeat("]", n),
		"nested ids":      strings.Repeat("[", n) + "CIT-9-09" + strings.Repeat("]", n),
		"backticks":       strings.Repeat("` `` ", n),
		"dollars":         strings.Repeat("$x [7] ", n/4),
		"numbers":         strings.Repeat("[7]", n/2),
		"links":           strings.Repeat("[a](", n),
		"tags":            strings.Repeat("<a ", n),
		"addresses":       strings.Repeat("https://", n),
		"quotes":          strings.Repeat(">", n) + "\n```",
	} {
		start := time.Now()
		r := registry()
		out, _, _ := r.Resolve(in)
		report.Cited(report.Parse(out))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %s for %d bytes", name, took, len(in))
		} else {
			t.Logf("%s: %s for %d bytes", name, took, len(in))
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	r := registry()
	text := strings.Repeat("A sentence of a report that cites two sources [CIT-3-01, CIT-3-02] and invents one [CIT-9-09]. ", 500)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Resolve(text)
	}
}

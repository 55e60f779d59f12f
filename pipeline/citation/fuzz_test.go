package citation_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
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
		once, _ := r.Resolve(in)
		if twice, more := r.Resolve(once); twice != once || len(more) > 0 {
			t.Fatalf("not stable\n   in %q\n once %q\ntwice %q %v", in, once, twice, more)
		}
	})
}

var (
	linkPattern   = regexp.MustCompile(`\(#(ref-[a-z0-9-]+)\)`)
	anchorPattern = regexp.MustCompile(`<a id="(ref-[a-z0-9-]+)"></a>`)
)

// FuzzRender: every marker has its reference and every reference its marker, numbers run from 1 to n, rendering again
// changes nothing.
func FuzzRender(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, false)
		f.Add(s, true)
	}
	r := registry()
	f.Fuzz(func(t *testing.T, in string, numbered bool) {
		if len(in) > 4000 || strings.Contains(in, "#ref-") && numbered {
			return // links that the input brings along are not ours to count
		}
		o := citation.Options{Style: topicqueue.CitationAnchors}
		if numbered {
			o.Style = topicqueue.CitationNumbered
		}
		text, _ := r.Resolve(in)
		got := r.Render(text, o)
		if again := r.Render(got.Body, o); again.Body != got.Body {
			t.Fatalf("not stable\n   in %q\n once %q\ntwice %q", in, got.Body, again.Body)
		}
		anchors := map[string]bool{}
		for _, m := range anchorPattern.FindAllStringSubmatch(got.References, -1) {
			if anchors[m[1]] {
				t.Fatalf("%s listed twice", m[1])
			}
			anchors[m[1]] = true
		}
		if !strings.ContainsAny(in, "`~") && !strings.Contains(in, "#ref-") && !strings.Contains(in, "    ") && !strings.Contains(in, "\t") {
			linked := map[string]bool{}
			for _, m := range linkPattern.FindAllStringSubmatch(got.Body, -1) {
				linked[m[1]] = true
				if !anchors[m[1]] {
					t.Fatalf("%s has no reference in %q", m[1], got.Body)
				}
			}
			if len(linked) != len(anchors) {
				t.Fatalf("%d markers, %d references: %q", len(linked), len(anchors), got.Body)
			}
		}
		if numbered {
			for n := 1; n <= len(anchors); n++ {
				if !anchors["ref-"+strconv.Itoa(n)] {
					t.Fatalf("number %d is missing of %d", n, len(anchors))
				}
			}
		} else if len(anchors) != len(got.Cited) {
			t.Fatalf("%d references for %v", len(anchors), got.Cited)
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
	r := registry()
	f.Fuzz(func(t *testing.T, in string) {
		got := markup.Escape(in)
		ordered := turning.ReplaceAllString(strings.ToValidUTF8(in, "\uFFFD"), "")
		if want := strings.Join(strings.Fields(ordered), " "); markup.Unescape(got) != want {
			t.Fatalf("Unescape(%q) = %q, want %q", got, markup.Unescape(got), want)
		}
		if out := r.Render(got, citation.Options{}); len(out.Cited) > 0 || out.Body != got {
			t.Fatalf("%q became %q with %v", got, out.Body, out.Cited)
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
		out, _ := r.Resolve(in)
		r.Render(out, citation.Options{})
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

package jobs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestForgedBundle changes files of a bundle together with its manifest. The text and citations of the report are still
// verified.
func TestForgedBundle(t *testing.T) {
	t.Parallel()
	for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), nil)
			o := options(3, 2, 2)
			o.CitationStyle = style
			w := b.start(jobs.Settings{})
			id := b.enqueue(topic, o, "")
			b.wait(id)
			w.Stop()
			store, markdown, claims := b.services.Store, storage.ReportKey(id), storage.CacheKey(id, "claims.jsonl")
			tree := storage.CacheKey(id, "report.json")
			run := b.run(id)
			first := func(r *report.Report) (cited *report.Block) {
				for i := range r.Sections {
					report.EachBlock(r.Sections[i].Blocks, func(b *report.Block) {
						if cited == nil && b.Kind == report.KindExcerpt {
							cited = b
						}
					})
				}
				return cited
			}
			for name, c := range map[string]struct {
				forge func(r *report.Report)
				want  string
			}{
				"a word of a sentence": {func(r *report.Report) { first(r).Blocks = report.ParseWhole("Not this.") },
					"lacks a checked sentence or its citations"},
				"a sentence of its own": {func(r *report.Report) {
					s := &r.Sections[0]
					s.Blocks = append(s.Blocks, report.Parse("Pumps are loud ["+first(r).Citation+"].")...)
				}, "has a sentence that was not checked"},
				"the source of one": {func(r *report.Report) { first(r).Citation = r.References[1].Entries[0].IDs[0] },
					"lacks a checked sentence or its citations"},
				"an entry of references": {func(r *report.Report) { r.References[0].Entries[0].Text += "x" },
					"has a reference that differs from the sources"},
				"where a citation leads": {func(r *report.Report) { r.References[0].Entries[0].Label += "x" },
					"has a reference that differs from the sources"},
			} {
				var r report.Report
				if err := json.Unmarshal(get(t, store, tree), &r); err != nil {
					t.Fatal(err)
				}
				c.forge(&r)
				forged, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				was := map[string]string{tree: string(get(t, store, tree)), markdown: string(get(t, store, markdown))}
				replace(t, store, id, tree, string(forged))
				has := func(problem, file string) bool {
					check, err := bundle.Verify(t.Context(), store, id)
					if err != nil {
						t.Fatal(err)
					}
					return slices.ContainsFunc(check.Problems, func(p storage.Problem) bool {
						return p.File == file && strings.Contains(p.What, problem)
					})
				}
				if !has("is another text than report.json has", markdown) {
					t.Errorf("%s: the Markdown is no longer that of the report, and nothing says so", name)
				}
				replace(t, store, id, markdown, r.Markdown(reporting.StyleOf(run)))
				if !has(c.want, tree) {
					t.Errorf("%s: not found", name)
				}
				for key, body := range was {
					replace(t, store, id, key, body)
				}
			}
			for name, c := range map[string]struct {
				file  string
				forge func(body string) string
				want  string
			}{
				"a claim":         {claims, func(s string) string { return strings.Replace(s, `"text":"`, `"text":"Not `, 1) }, "the claims of the blocks"},
				"one claim fewer": {claims, func(s string) string { return s[strings.IndexByte(s, '\n')+1:] }, "the claims of the blocks"},
			} {
				body := string(get(t, store, c.file))
				forged := c.forge(body)
				if forged == body {
					t.Errorf("%s: nothing was forged", name)
				}
				replace(t, store, id, c.file, forged)
				check, err := bundle.Verify(t.Context(), store, id)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(check.Problems, func(p storage.Problem) bool { return p.File == c.file && strings.Contains(p.What, c.want) }) {
					t.Errorf("%s: %q", name, check.Problems)
				}
				replace(t, store, id, c.file, body)
			}
			if check, err := bundle.Verify(t.Context(), store, id); err != nil || len(check.Problems) > 0 || check.Otherwise > 0 {
				t.Errorf("restored: %q, %v, %d otherwise", check.Problems, err, check.Otherwise)
			}
			// Sentences judged differently by the rules of another version are not a forgery.
			verification := storage.CacheKey(id, "verification.json")
			body := string(get(t, store, verification))
			older := strings.Replace(strings.Replace(body, `"verdict": "supported"`, `"verdict": "unverified"`, 1), fmt.Sprintf(`"rules": %d`, support.Rules), `"rules": 0`, 1)
			for stored, otherwise := range map[string]int{older: 1, strings.Replace(older, `"rules": 0`, fmt.Sprintf(`"rules": %d`, support.Rules), 1): 0} {
				replace(t, store, id, verification, stored)
				check, err := bundle.Verify(t.Context(), store, id)
				if err != nil || check.Otherwise != otherwise || len(check.Problems) != 1-otherwise {
					t.Errorf("of a sentence judged otherwise: %q, %d otherwise, %v", check.Problems, check.Otherwise, err)
				}
			}
		})
	}
}

// replace changes a file of a bundle and stores a matching manifest.
func replace(t *testing.T, store storage.Store, id, key, body string) {
	t.Helper()
	sum := func(b []byte) string {
		s := sha256.Sum256(b)
		return hex.EncodeToString(s[:])
	}
	encode := func(m storage.Manifest) []byte {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(m); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	var m storage.Manifest
	if err := json.Unmarshal(get(t, store, storage.ManifestKey(id)), &m); err != nil {
		t.Fatal(err)
	}
	for i := range m.Files {
		if m.Files[i].Key == key {
			m.Files[i].Size, m.Files[i].SHA256 = len(body), sum([]byte(body))
		}
	}
	m.SHA256 = ""
	m.SHA256 = sum(encode(m))
	for at, content := range map[string][]byte{key: []byte(body), storage.ManifestKey(id): encode(m)} {
		if err := store.Put(t.Context(), at, content); err != nil {
			t.Fatal(err)
		}
	}
}

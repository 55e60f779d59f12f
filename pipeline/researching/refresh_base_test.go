package researching_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// files is a knowledge base of documents with one passage each.
type files map[string]string

var _ researching.Documents = files{}

func (f files) source(document string) topicqueue.Source {
	return topicqueue.Source{
		Kind: topicqueue.SourceDocument, Title: document, Document: document, Text: f[document],
		Hash: topicqueue.TextHash(f[document]),
	}
}

func (f files) Text(_ context.Context, document string) (string, error) {
	if body, there := f[document]; there {
		return body, nil
	}
	return "", fmt.Errorf("%s: %w", document, fs.ErrNotExist)
}

func (f files) Passages(_ context.Context, document string) ([]topicqueue.Source, error) {
	return []topicqueue.Source{f.source(document)}, nil
}

func (f files) Hashes(context.Context) (map[string]string, error) {
	hashes := map[string]string{}
	for document, body := range f {
		hashes[document] = topicqueue.TextHash(body)
	}
	return hashes, nil
}

func (f files) Like(context.Context, string, int) ([]topicqueue.Source, error) { return nil, nil }

// TestDocumentsReachTheirBlocks: a new or changed document is read for every block whose searches return it in any
// place, otherwise for the block that it fits best.
func TestDocumentsReachTheirBlocks(t *testing.T) {
	t.Parallel()
	const fresh = "How tides work: spring tides of Elm reach 9 metres."
	const staff = "How tides work for the staff of Elm: 40 wardens watch them."
	then := files{
		"a": "Tides of Alder rise 3 metres.", "b": "Tides of Birch rise 4 metres.", "c": "Tides of Cedar rise 5 metres.",
	}
	with := func(document, body string) files {
		now := files{document: body}
		for d, b := range then {
			if now[d] == "" {
				now[d] = b
			}
		}
		return now
	}
	for name, tt := range map[string]struct {
		now   files
		shown []string // by the search of tonight
		other string   // the title of another block
		want  []string
	}{
		"new, in the last place": {with("new", fresh), []string{"a", "b", "new"}, "Staff", []string{"new: " + fresh}},
		"a new paragraph of one that others have read": {with("c", then["c"]+"\n\n"+fresh), []string{"a", "b", "c"}, "Staff",
			[]string{"new: " + fresh}},
		"new, shown by no search": {
			with("new", fresh), []string{"a", "b", "c"}, "Staff", []string{"new: " + fresh},
		},
		"new, shown by no search, of another block": {
			with("new", staff), []string{"a", "b", "c"}, "Staff and wardens", []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, nil, true)
			base, shown := then, []string{"a", "b", "c"}
			w.bench.tools = map[string]func(string) tools.Result{"rag_hybrid": func(string) (r tools.Result) {
				for _, document := range shown {
					s := base.source(document)
					r.Sources = append(r.Sources, s)
				}
				return r
			}}
			w.run.Options.Tools, w.run.Options.MaxIterations = []string{"rag_hybrid"}, 1
			w.decide = func(int, llm.Request) any { return act(ask("rag_hybrid", "spring tides")) }
			m := w.first()
			if name == "a new paragraph of one that others have read" {
				m.Blocks[0].Traces = slices.DeleteFunc(m.Blocks[0].Traces, func(t topicqueue.ToolTrace) bool {
					return t.Source.Document == "c"
				})
			}
			m.Blocks = append([]recurring.Block{{ID: "block_1", SubTopic: topicqueue.SubTopic{Title: tt.other}}}, m.Blocks...)
			base, shown = tt.now, tt.shown
			w.r.Documents, w.r.Before, w.r.Runner.Limit = tt.now, then, 3
			changes, _ := w.again(m)
			if diff := cmp.Diff(tt.want, what(changes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEditsInDocumentsThatRankLow: without a model, changes in documents that no search returns are reported if half of
// the knowledge base is about the topic, but not if it covers many subjects.
func TestEditsInDocumentsThatRankLow(t *testing.T) {
	t.Parallel()
	then := files{
		"a": "Spring tides of Alder rise 3 metres.", "b": "Birch has 3 wardens.", "c": "Spring tides of Cedar rise 5 metres.",
	}
	for name, tt := range map[string]struct {
		shares map[string]float64
		want   []string
	}{
		"half is about the topic": {map[string]float64{"a": 1, "b": 0.2, "c": 0.9},
			[]string{"value 3 -> 4: Birch has 4 wardens."}},
		"one is": {map[string]float64{"a": 1, "b": 0.2, "c": 0.3}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, nil, false)
			base := then
			w.bench.tools = map[string]func(string) tools.Result{"rag_hybrid": func(string) (r tools.Result) {
				s := base.source("a")
				s.Share = 1
				r.Sources = append(r.Sources, s)
				return r
			}}
			w.run.Options.Tools = []string{"rag_hybrid"}
			m := w.first()
			base = files{"a": then["a"], "b": "Birch has 4 wardens.", "c": then["c"]}
			w.r.Documents, w.r.Before, w.r.Runner.Limit = base, ranked{then, tt.shares}, 1
			changes, _ := w.again(m)
			if diff := cmp.Diff(tt.want, what(changes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ranked is files with given scores.
type ranked struct {
	files
	shares map[string]float64
}

func (r ranked) Like(context.Context, string, int) (list []topicqueue.Source, err error) {
	for document, share := range r.shares {
		s := r.source(document)
		s.Share = share
		list = append(list, s)
	}
	return list, nil
}

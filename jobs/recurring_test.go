package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/corpustest"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// nights is a desk that researches the harbours of a corpus night after night.
type nights struct {
	*bench
	corpus   *corpustest.Corpus
	model    *nightModel
	subjects []string
}

func newNights(t *testing.T, subjects int, extractive bool) *nights {
	t.Helper()
	n := &nights{corpus: corpustest.Start(t, 34), model: &nightModel{}}
	var model llm.Model
	if !extractive {
		model = n.model
	}
	n.bench = setup(t, redistest.Server(t), model)
	n.shares()
	outside := fetch.New(fetch.Settings{Allow: []string{n.corpus.Allow()}, PerHost: 1})
	engine, err := websearch.New(websearch.Settings{Name: "searxng", BaseURL: n.corpus.SearchURL(), Outside: outside, Pace: redisqueue.NewPace(n.services.Redis), Every: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	set := tools.Set{tools.NewWebSearch(websearch.NewChain(engine), 6), tools.NewOpenPage(outside)}
	n.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) { return jobs.Toolbox{Tools: set}, nil }
	for i := 0; len(n.subjects) < subjects; i++ { // the search engine knows no shorter words
		if name := corpustest.Subject(i); len(name) > 3 {
			n.subjects = append(n.subjects, name)
		}
	}
	return n
}

func (n *nights) options() topicqueue.Options {
	o := options(2, 4, 2)
	o.KnowledgeBase, o.Tools, o.MaxLoops, o.Incremental = "", []string{"web_search", "open_page"}, 1, true
	return o
}

// report is what one run of a night came to.
type nightReport struct {
	run      topicqueue.Run
	markdown string
	changes  *recurring.Changes
	quotes   map[string]bool // of its claims
	calls    int
	steps    map[string]int
}

// night researches all subjects and returns the reports by subject.
func (n *nights) night(number int) map[string]nightReport {
	n.t.Helper()
	w := n.start(jobs.Settings{Concurrency: 16})
	defer w.Stop()
	now := time.Date(2026, 3, number, 20, 0, 0, 0, time.UTC)
	name := fmt.Sprint("night-", number)
	created, err := n.services.Queue.OpenBatch(n.t.Context(), name, now)
	if err != nil {
		n.t.Fatal(err)
	}
	runs := map[string]string{}
	for _, subject := range n.subjects {
		sub, err := n.services.Dispatcher.Enqueue(n.t.Context(), n.services.Queue, redisqueue.Batch{Name: name, CreatedAt: created},
			"What is known of "+subject+" Harbour?", n.options(), "", now)
		if err != nil {
			n.t.Fatal(err)
		}
		runs[subject] = sub.Run.ID
	}
	reports := map[string]nightReport{}
	for _, subject := range n.subjects {
		n.wait(runs[subject])
		r := nightReport{run: n.run(runs[subject])}
		if r.run.State != topicqueue.RunCompleted {
			n.t.Fatalf("%s: %s (%s)", subject, r.run.State, r.run.Reason)
		}
		body, err := n.services.Store.Get(n.t.Context(), storage.ReportKey(r.run.ID))
		if err != nil {
			n.t.Fatal(err)
		}
		r.markdown = string(body)
		var meta struct {
			Changes *recurring.Changes `json:"changes"`
		}
		if body, err = n.services.Store.Get(n.t.Context(), storage.MetadataKey(r.run.ID)); err != nil {
			n.t.Fatal(err)
		}
		if err := json.Unmarshal(body, &meta); err != nil {
			n.t.Fatal(err)
		}
		r.changes, r.quotes = meta.Changes, map[string]bool{}
		if body, err = n.services.Store.Get(n.t.Context(), storage.CacheKey(r.run.ID, "claims.jsonl")); err != nil {
			n.t.Fatal(err)
		}
		for line := range bytes.Lines(body) {
			var c topicqueue.Claim
			if err := json.Unmarshal(line, &c); err != nil {
				n.t.Fatal(err)
			}
			r.quotes[topicqueue.OneLine(c.Quote)] = true
		}
		r.calls, r.steps = n.model.of(r.run.ID)
		check, err := jobs.CheckBundle(n.t.Context(), n.services.Store, r.run.ID)
		if err != nil || len(check.Problems) > 0 {
			n.t.Errorf("%s: bundle: %v, %+v", subject, err, check.Problems)
		}
		reports[subject] = r
	}
	return reports
}

// facts are what should be told of one subject.
type facts struct{ fresh, changed, withdrawn []string }

// edit changes the corpus between two nights and says what there is to be told, by subject. What the first night has not found is not
// missed: where it changes, it is new.
func (n *nights) edit(first map[string]nightReport) map[string]facts {
	want := map[string]facts{}
	for i, subject := range n.subjects {
		page := func(kind string) *corpustest.Page { return n.corpus.Page(subject, kind) }
		f := facts{}
		switch i % 10 {
		case 0: // a new page
			p := page("overview")
			p.Kind, p.URL, p.Title = "extension", strings.Replace(p.URL, "/overview", "/extension", 1), subject+" Harbour: overview and figures of the extension"
			p.Facts = []string{
				fmt.Sprintf("The extension of %s Harbour covers %d square metres.", subject, 910_000+i),
				fmt.Sprintf("%s Harbour will open its new lock to %d barges.", subject, 920_000+i),
			}
			f.fresh = p.Facts
			n.corpus.Put(*p)
		case 1: // a changed number
			p := page("figures")
			old := p.Facts[0]
			p.Facts[0] = fmt.Sprintf("%s Harbour handled %d containers in 2024.", subject, 930_000+i)
			f.change(first[subject].quotes, old, p.Facts[0])
			n.corpus.Put(*p)
		case 2: // a page that is gone
			p := page("history")
			f.withdraw(first[subject].quotes, p.Facts...)
			n.corpus.Remove(p.URL)
		case 3: // a cosmetic change
			p := page("overview")
			p.Menu, p.Stamp, p.Date = "Winter sale", "This page was last updated on 2 March 2026.", "2026-03-02"
			n.corpus.Put(*p)
		case 4: // other order
			p := page("figures")
			slices.Reverse(p.Facts)
			n.corpus.Put(*p)
		case 5: // a changed number in a document
			p := page("report")
			old := p.Facts[1]
			p.Facts[1] = fmt.Sprintf("%s Harbour emitted %d tonnes of carbon dioxide according to its report.", subject, 940_000+i)
			f.change(first[subject].quotes, old, p.Facts[1])
			n.corpus.Put(*p)
		case 6: // a sentence that is gone, and another that has come
			p := page("history")
			f.withdraw(first[subject].quotes, p.Facts[1])
			p.Facts[1] = fmt.Sprintf("The lighthouse of %s Harbour consumed %d litres of oil every winter.", subject, 950_000+i)
			f.fresh = []string{p.Facts[1]}
			n.corpus.Put(*p)
		}
		if len(f.fresh)+len(f.changed)+len(f.withdrawn) > 0 {
			want[subject] = f
		}
	}
	return want
}

func (f *facts) change(known map[string]bool, old, now string) {
	if known[old] {
		f.changed = append(f.changed, old+" => "+now)
	} else {
		f.fresh = append(f.fresh, now)
	}
}

func (f *facts) withdraw(known map[string]bool, gone ...string) {
	for _, fact := range gone {
		if known[fact] {
			f.withdrawn = append(f.withdrawn, fact)
		}
	}
}

// told is what a report says has changed.
func told(c *recurring.Changes) facts {
	var f facts
	for _, s := range c.New {
		f.fresh = append(f.fresh, s.Quote)
	}
	for _, s := range c.Changed {
		f.changed = append(f.changed, s.Old.Quote+" => "+s.New.Quote)
	}
	for _, s := range c.Withdrawn {
		f.withdrawn = append(f.withdrawn, s.Quote)
	}
	return f
}

// tally counts what was told rightly and wrongly, and what was not told.
type tally struct {
	hit, wrong, missed int
	lines              []string
}

func (y *tally) add(subject, kind string, want, got []string) {
	for _, g := range got {
		if slices.Contains(want, g) {
			y.hit++
		} else {
			y.wrong++
			y.lines = append(y.lines, fmt.Sprintf("%s: wrongly %s: %s", subject, kind, g))
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			y.missed++
			y.lines = append(y.lines, fmt.Sprintf("%s: not %s: %s", subject, kind, w))
		}
	}
}

// without returns a report without the part on what has changed.
func without(markdown string) string {
	head, rest, ok := strings.Cut(markdown, "## What changed since ")
	_, body, rule := strings.Cut(rest, "\n---\n\n")
	if !ok || !rule {
		return markdown
	}
	return head + body
}

// Twenty topics, two nights, seven kinds of edits between them: the reports tell of all that moved and of nothing else, and what has not
// moved costs next to nothing and stays as it was.
func TestWhatChanged(t *testing.T) {
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNights(t, 20, extractive)
			first := n.night(1)
			fetched := n.corpus.Counts()
			want := n.edit(first)
			second := n.night(2)
			var y tally
			for _, subject := range n.subjects {
				one, two := first[subject], second[subject]
				if one.changes != nil || two.changes == nil || two.changes.RunID != one.run.ID {
					t.Fatalf("%s: changes %+v and %+v", subject, one.changes, two.changes)
				}
				got := told(two.changes)
				y.add(subject, "new", want[subject].fresh, got.fresh)
				y.add(subject, "changed", want[subject].changed, got.changed)
				y.add(subject, "withdrawn", want[subject].withdrawn, got.withdrawn)
				if !strings.Contains(two.markdown, "\n\n## What changed since "+two.changes.Since+"\n\n") {
					t.Errorf("%s: the report does not open with what changed:\n%.300s", subject, two.markdown)
				}
				if _, moved := want[subject]; moved {
					checkBothNights(t, subject, one, two)
					continue
				}
				if 10*two.calls > one.calls {
					t.Errorf("%s has not changed and took %d calls of %d: %v", subject, two.calls, one.calls, two.steps)
				}
				if without(two.markdown) != one.markdown {
					t.Errorf("%s has not changed, but its report has:\n%s\n\n%s", subject, one.markdown, two.markdown)
				}
			}
			for _, line := range y.lines {
				t.Log(line)
			}
			if known := want[n.subjects[2]].withdrawn; len(known) == 0 {
				t.Error("nothing was known of the page that is gone")
			}
			precision, recall := float64(y.hit)/float64(max(1, y.hit+y.wrong)), float64(y.hit)/float64(max(1, y.hit+y.missed))
			t.Logf("%d told, precision %.3f, recall %.3f", y.hit+y.wrong, precision, recall)
			if precision < 0.95 || recall < 0.95 {
				t.Error("too little is told rightly")
			}
			calls := [2]int{}
			for _, subject := range n.subjects {
				calls[0], calls[1] = calls[0]+first[subject].calls, calls[1]+second[subject].calls
			}
			now := n.corpus.Counts()
			t.Logf("%d and %d calls; pages sent: %d and %d, found to be the same: %d", calls[0], calls[1], sum(fetched.Fetched), sum(now.Fetched)-sum(fetched.Fetched), sum(now.Same))
		})
	}
}

func sum(counts map[string]int) int {
	n := 0
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}

// checkBothNights checks that what was said before leads to the text of the night before.
func checkBothNights(t *testing.T, subject string, one, two nightReport) {
	t.Helper()
	for _, old := range slices.Concat(oldSides(two.changes.Changed), taken(two.changes.Withdrawn)) {
		for _, id := range old.Citations {
			_, entry, ok := strings.Cut(two.markdown, `<a id="ref-`+strings.ToLower(id)+`"></a>`)
			entry, _, _ = strings.Cut(entry, "\n\n")
			if !ok || !strings.Contains(entry, "[as of "+two.changes.Since+"](../cache/"+one.run.ID+"/pages/") {
				t.Errorf("%s: %s of %q leads to %q", subject, id, old.Quote, entry)
			}
		}
	}
}

func oldSides(changes []recurring.Change) (list []recurring.Said) {
	for _, c := range changes {
		list = append(list, c.Old)
	}
	return list
}

func taken(withdrawn []recurring.Withdrawn) (list []recurring.Said) {
	for _, w := range withdrawn {
		list = append(list, w.Said)
	}
	return list
}

// Where nothing was edited, nothing is told, nothing is asked of the model, and the reports are what they were; the third night as the second.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNights(t, 20, extractive)
			first := n.night(1)
			for number := 2; number <= 3; number++ {
				for subject, r := range n.night(number) {
					if r.changes == nil || !r.changes.None() || r.changes.Unchecked > 0 || len(r.changes.Open) > 0 {
						t.Errorf("night %d, %s: %+v", number, subject, r.changes)
					}
					if r.calls > 0 {
						t.Errorf("night %d, %s took %d calls: %v", number, subject, r.calls, r.steps)
					}
					if !strings.Contains(r.markdown, "\n\nNo change: ") || without(r.markdown) != first[subject].markdown {
						t.Errorf("night %d, %s:\n%s\n\n%s", number, subject, first[subject].markdown, r.markdown)
					}
				}
			}
		})
	}
}

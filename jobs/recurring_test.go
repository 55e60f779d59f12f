package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
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
	"nightdesk/topicqueue/redisqueue/shared"
	"nightdesk/topicqueue/scaletest"
)

// nights is a bench that researches the harbours of a corpus every night.
type nights struct {
	*bench
	corpus   *corpustest.Corpus
	model    *nightModel
	subjects []string
	topic    func(subject string) string // nil: topicOf
}

func newNights(t *testing.T, subjects int, extractive bool) *nights {
	t.Helper()
	n := &nights{corpus: corpustest.Start(t, 34), model: &nightModel{}}
	for i, p := range n.corpus.Pages {
		if i%3 == 0 { // a server that does not say which version a page is
			p.NoTag = true
		}
	}
	var model llm.Model
	results := 10 // of one search; without a model it is the only one
	if !extractive {
		model, results = n.model, 6
	}
	n.bench = setup(t, redistest.Server(t), model)
	n.shares()
	outside := fetch.New(fetch.Settings{Allow: []string{n.corpus.Allow()}, PerHost: 1})
	engine, err := websearch.New(websearch.Settings{Name: "searxng", BaseURL: n.corpus.SearchURL(), Outside: outside, Pace: shared.NewPace(n.services.Redis), Every: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	set := tools.Set{tools.NewWebSearch(websearch.NewChain(engine), results), tools.NewOpenPage(outside)}
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

// nightReport is the result of one run.
type nightReport struct {
	run      topicqueue.Run
	markdown string
	changes  *recurring.Changes
	quotes   map[string]bool // of its claims
	calls    int
	steps    map[string]int
}

// topicOf returns the topic about a subject.
func topicOf(subject string) string {
	if strings.Contains(subject, "Harbour") {
		return "What is known of " + subject + "?"
	}
	return "What is known of " + subject + " Harbour?"
}

// night researches all subjects and returns the reports by subject.
func (n *nights) night(number int) map[string]nightReport { return n.nightOf(number, nil) }

// nightOf is night with changed options.
func (n *nights) nightOf(number int, change func(*topicqueue.Options)) map[string]nightReport {
	n.t.Helper()
	reports := map[string]nightReport{}
	for subject, runID := range n.work(number, change) {
		reports[subject] = n.read(subject, runID)
	}
	return reports
}

// work researches all subjects and returns the ended runs.
func (n *nights) work(number int, change func(*topicqueue.Options)) map[string]string {
	n.t.Helper()
	w := n.start(jobs.Settings{Concurrency: 16})
	defer w.Stop()
	now := time.Date(2026, 3, number, 20, 0, 0, 0, time.UTC)
	batch := redisqueue.Batch{Name: fmt.Sprint("night-", number)}
	var err error
	if batch.CreatedAt, err = n.services.Queue.OpenBatch(n.t.Context(), batch.Name, now); err != nil {
		n.t.Fatal(err)
	}
	runs, asked := map[string]string{}, n.topic
	if asked == nil {
		asked = topicOf
	}
	for _, subject := range n.subjects {
		o := n.options()
		if change != nil {
			change(&o)
		}
		run, err := n.services.Dispatcher.Enqueue(n.t.Context(), n.services.Queue, batch, asked(subject), o, "", now)
		if err != nil {
			n.t.Fatal(err)
		}
		runs[subject] = run.ID
	}
	for _, subject := range n.subjects {
		n.wait(runs[subject])
	}
	return runs
}

// read reads and checks the results of a completed run.
func (n *nights) read(subject, runID string) nightReport {
	n.t.Helper()
	if run := n.run(runID); run.State != topicqueue.RunCompleted {
		blocks, _ := n.services.Queue.Blocks(n.t.Context(), runID)
		for _, b := range blocks {
			n.t.Logf("%s: %q", b.ID, b.Fallbacks)
		}
		n.t.Fatalf("%s: %s (%s)", subject, run.State, run.Reason)
	}
	return n.left(subject, runID)
}

// left reads and checks the results of an ended run in any state.
func (n *nights) left(subject, runID string) nightReport {
	n.t.Helper()
	r := nightReport{run: n.run(runID), quotes: map[string]bool{}}
	get := func(key string) []byte {
		n.t.Helper()
		body, err := n.services.Store.Get(n.t.Context(), key)
		if err != nil {
			n.t.Fatal(err)
		}
		return body
	}
	r.markdown = string(get(storage.ReportKey(runID)))
	var meta struct {
		Changes *recurring.Changes `json:"changes"`
	}
	if err := json.Unmarshal(get(storage.MetadataKey(runID)), &meta); err != nil {
		n.t.Fatal(err)
	}
	r.changes = meta.Changes
	for line := range bytes.Lines(get(storage.CacheKey(runID, "claims.jsonl"))) {
		var c topicqueue.Claim
		if err := json.Unmarshal(line, &c); err != nil {
			n.t.Fatal(err)
		}
		r.quotes[topicqueue.OneLine(c.Quote)] = true
	}
	r.calls, r.steps = n.model.of(runID)
	check, err := bundle.Verify(n.t.Context(), n.services.Store, runID)
	if err != nil || len(check.Problems) > 0 {
		n.t.Errorf("%s: bundle: %v, %+v", subject, err, check.Problems)
	}
	return r
}

// facts are the changes that should be reported about a subject.
type facts struct{ fresh, changed, withdrawn []string }

// inOtherOrder is the edit that only reorders sentences.
const inOtherOrder = 4

// edit changes the corpus between two nights and returns the expected changes by subject. Facts that the first night
// did not find are not required; if they change, they are new.
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
				fmt.Sprintf("The extension of %s Harbour was built by %d workers.", subject, 925_000+i), // with fewer it ranks below pages of another harbour
			}
			f.fresh = p.Facts
			n.corpus.Put(*p)
		case 1: // a changed number
			p := page("figures")
			old := p.Facts[0]
			p.Facts[0] = fmt.Sprintf("%s Harbour handled %d containers in 2024.", subject, 930_000+i)
			f.change(old, p.Facts[0])
			n.corpus.Put(*p)
		case 2: // a page that is gone
			p := page("history")
			f.withdraw(first[subject].quotes, p.Facts...)
			n.corpus.Remove(p.URL)
		case 3: // a cosmetic change
			p := page("overview")
			p.Menu, p.Stamp, p.Date = "Winter sale", "This page was last updated on "+first[subject].run.EndedAt.Format("2 January 2006")+".", "2026-03-02"
			n.corpus.Put(*p)
		case inOtherOrder:
			p := page("figures")
			slices.Reverse(p.Facts)
			n.corpus.Put(*p)
		case 5: // a changed number in a document
			p := page("report")
			old := p.Facts[1]
			p.Facts[1] = fmt.Sprintf("%s Harbour emitted %d tonnes of carbon dioxide according to its report.", subject, 940_000+i)
			f.change(old, p.Facts[1])
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

// change adds an expected change with its former value, because the former text of each page is stored.
func (f *facts) change(old, now string) { f.changed = append(f.changed, old+" => "+now) }

func (f *facts) withdraw(known map[string]bool, gone ...string) {
	for _, fact := range gone {
		if known[fact] || slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(quote string) bool { return strings.Contains(quote, fact) }) {
			f.withdrawn = append(f.withdrawn, fact)
		}
	}
}

// told returns the changes stated in a report.
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

// tally counts correct, wrong and missing changes.
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

// rest returns the report without its list of changes and without run id and batch.
func (r nightReport) rest() string {
	markdown := strings.NewReplacer(r.run.ID, "this run", "batch "+r.run.Batch, "batch").
		Replace(dayOfHead.ReplaceAllString(r.markdown, "> DAY · run "))
	head, rest, ok := strings.Cut(markdown, "## What changed since ")
	_, body, rule := strings.Cut(rest, "\n---\n\n")
	if !ok || !rule {
		return markdown
	}
	return head + body
}

// TestWhatChanged runs topics in two nights with seven kinds of edits in between. The reports state all changes and
// nothing else. Unchanged content costs almost nothing and stays the same.
func TestWhatChanged(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNights(t, scaletest.Of(map[bool]int{false: 7, true: 3}[scaletest.Race], 20), extractive)
			first := n.night(1)
			fetched := n.corpus.Counts()
			want := n.edit(first)
			second := n.night(2)
			var y tally
			for i, subject := range n.subjects {
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
				if extractive && i%10 == inOtherOrder { // passages are quoted in the order of their page
					continue
				}
				if two.rest() != one.rest() {
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

// checkBothNights checks that former statements link to the text of the first night.
func checkBothNights(t *testing.T, subject string, one, two nightReport) {
	t.Helper()
	for _, old := range slices.Concat(oldSides(two.changes.Changed), taken(two.changes.Withdrawn)) {
		for _, id := range old.Citations {
			_, entry, ok := strings.Cut(two.markdown, `<a id="ref-`+strings.ToLower(id)+`"></a>`)
			entry, _, _ = strings.Cut(entry, "\n\n")
			_, entry, dated := strings.Cut(entry, "[as of "+two.changes.Since)
			entry = strings.TrimPrefix(entry, " · the source is no longer there")
			if !ok || !dated || !strings.HasPrefix(entry, "](../cache/"+one.run.ID+"/pages/") {
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

// TestNothingChanged: without edits, the second and third nights report no change, make no model call, and have the
// same reports.
func TestNothingChanged(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNights(t, scaletest.Of(2, 8), extractive)
			first := n.night(1)
			for number := 2; number <= 3; number++ {
				for subject, r := range n.night(number) {
					if r.changes == nil || !r.changes.None() || r.changes.Unchecked > 0 || len(r.changes.Open) > 0 {
						t.Errorf("night %d, %s: %+v", number, subject, r.changes)
					}
					if r.calls > 0 {
						t.Errorf("night %d, %s took %d calls: %v", number, subject, r.calls, r.steps)
					}
					if !strings.Contains(r.markdown, "\n\nNo change: ") || r.rest() != first[subject].rest() {
						t.Errorf("night %d, %s:\n%s\n\n%s", number, subject, first[subject].markdown, r.markdown)
					}
				}
			}
		})
	}
}

// TestMemoryIsVersioned: if two runs of a topic end at once, each writes a version of the memory. The version of the
// run that was enqueued later is used.
func TestMemoryIsVersioned(t *testing.T) {
	t.Parallel()
	n := newNights(t, 1, true)
	n.night(1)
	key := recurring.Key(topicOf(n.subjects[0]), n.options())
	w := n.start(jobs.Settings{Concurrency: 16})
	var runs []string
	for i := range 4 { // of one topic, in four batches
		now := time.Date(2026, 3, 2, 20, i, 0, 0, time.UTC)
		batch := redisqueue.Batch{Name: fmt.Sprint("twin-", i), CreatedAt: now}
		if _, err := n.services.Queue.OpenBatch(t.Context(), batch.Name, now); err != nil {
			t.Fatal(err)
		}
		run, err := n.services.Dispatcher.Enqueue(t.Context(), n.services.Queue, batch, topicOf(n.subjects[0]), n.options(), "", now)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run.ID)
	}
	var last topicqueue.Run
	for _, id := range runs {
		n.wait(id)
		if run := n.run(id); run.CreatedAt.Compare(last.CreatedAt) > 0 || run.CreatedAt.Equal(last.CreatedAt) && run.ID > last.ID {
			last = run
		}
	}
	w.Stop()
	versions, err := storage.TopicVersions(t.Context(), n.services.Store, key)
	if err != nil || len(versions) < 2 || len(versions) > 5 {
		t.Fatalf("versions %v, %v", versions, err)
	}
	for i, at := range versions {
		body, err := n.services.Store.Get(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		m, err := recurring.Decode(body, key)
		if err != nil {
			t.Fatal(err)
		}
		if m.Version != i+1 {
			t.Errorf("%s is version %d, want %d", at, m.Version, i+1)
		}
		if i == len(versions)-1 && m.RunID != last.ID {
			t.Errorf("%s is of run %s, the last one is %s", at, m.RunID, last.ID)
		}
	}
}

// TestEvidenceIsGone: if the evidence of the last night no longer exists, the run starts over and reports no changes.
func TestEvidenceIsGone(t *testing.T) {
	t.Parallel()
	n := newNights(t, 1, true)
	first := n.night(1)[n.subjects[0]]
	keys, err := n.services.Store.List(t.Context(), storage.CacheKey(first.run.ID, "pages/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := n.services.Store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	second := n.night(2)[n.subjects[0]]
	if second.changes != nil || second.rest() != first.rest() {
		t.Errorf("%+v\n%s", second.changes, second.markdown)
	}
	if third := n.night(3)[n.subjects[0]]; third.changes == nil || !third.changes.None() || third.changes.RunID != second.run.ID {
		t.Errorf("%+v", third.changes)
	}
}

// TestDocumentsChange: documents of a knowledge base are compared as a whole. Edits are reported even where no search
// returned them. Changes of order and white space are not reported.
func TestDocumentsChange(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	dir := t.TempDir()
	ingest := func(documents map[string]string) {
		t.Helper()
		for name, text := range documents {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.base.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(b.base, 6)}, Sections: b.base, Documents: b.base}, nil
	}
	n := &nights{bench: b, model: &nightModel{}, subjects: []string{"Alder"}}
	night := func(number int) nightReport {
		return n.nightOf(number, func(o *topicqueue.Options) {
			o.KnowledgeBase, o.Tools, o.SubTopics = "kb", []string{"rag_hybrid"}, 3
		})["Alder"]
	}
	ingest(map[string]string{
		"harbour.md": "# Alder Harbour\n\n## Size of Alder Harbour\n\nAlder Harbour covers 5,100 square metres of sheltered water. The quays of Alder Harbour are 900 metres long.\n\n" +
			"## Staff of Alder Harbour\n\nThe port authority of Alder Harbour employs 500 people in three shifts.\n",
		"fees.md": "# Fees of Alder Harbour\n\n## Berths\n\nA berth at Alder Harbour costs 12 euros a night. Alder Harbour grants a rebate of 3 euros in winter.\n",
	})
	first := night(1)
	if second := night(2); !second.changes.None() || second.rest() != first.rest() {
		t.Errorf("nothing was edited: %+v\n%s", told(second.changes), second.markdown)
	}
	ingest(map[string]string{
		"harbour.md": "# Alder Harbour\n\n## Staff of Alder Harbour\n\nThe port authority of Alder Harbour employs 620 people in three shifts.\n\n" +
			"## Size of Alder Harbour\n\nThe quays of Alder Harbour are 900 metres long.  Alder Harbour covers\n5,100 square metres of sheltered water.\n",
	})
	third := told(night(3).changes)
	want := facts{changed: []string{"The port authority of Alder Harbour employs 500 people in three shifts. => The port authority of Alder Harbour employs 620 people in three shifts."}}
	if diff := cmp.Diff(want, third, cmp.AllowUnexported(facts{})); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(dir, "fees.md")); err != nil {
		t.Fatal(err)
	}
	ingest(nil)
	fourth := night(4)
	got := told(fourth.changes)
	// a paragraph is reported as a whole
	want = facts{withdrawn: []string{
		"A berth at Alder Harbour costs 12 euros a night. Alder Harbour grants a rebate of 3 euros in winter.",
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(facts{})); diff != "" || !fourth.changes.Withdrawn[0].Gone {
		t.Error(diff)
	}
}

// TestBlockIsWithdrawn: a block whose claims are all withdrawn is completed. The run is not partial.
func TestBlockIsWithdrawn(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	dir := t.TempDir()
	for _, place := range []string{"Alder", "Birch", "Elm", "Fir", "Oak", "Pine"} {
		for name, text := range map[string]string{
			"waste":  "Households in %[1]s produced 43,195 tonnes of waste. The recycling yard of %[1]s counted 311 deliveries a week.",
			"budget": "The council of %[1]s adopted a budget of 42,059 thousand euros. Business tax brought %[1]s 976 thousand euros.",
			"health": "The clinic of %[1]s treated 16,178 patients. The maternity ward of %[1]s will be closed on 3 May 2027.",
		} {
			text = fmt.Sprintf("# The %[2]s of %[1]s\n\n"+text+"\n", place, name)
			if err := os.WriteFile(filepath.Join(dir, place+"-"+name+".md"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(b.base, 1)}, Sections: b.base, Documents: b.base}, nil
	}
	n := &nights{bench: b, model: &nightModel{}, subjects: []string{"Alder"}, topic: func(string) string { return "Alder" }}
	night := func(number int) nightReport {
		t.Helper()
		if _, err := b.base.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		return n.nightOf(number, func(o *topicqueue.Options) {
			o.KnowledgeBase, o.Tools, o.SubTopics = "kb", []string{"rag_hybrid"}, 3
		})["Alder"]
	}
	if first := night(1); first.run.State != topicqueue.RunCompleted {
		t.Fatalf("%s, %s", first.run.State, first.run.Reason)
	}
	if err := os.Remove(filepath.Join(dir, "Alder-waste.md")); err != nil {
		t.Fatal(err)
	}
	if second := night(2); second.run.State != topicqueue.RunCompleted || len(second.changes.Withdrawn) == 0 || !strings.Contains(second.markdown, "closed on 3 May 2027") {
		t.Errorf("%s, %s, %+v\n%s", second.run.State, second.run.Reason, second.changes, second.markdown)
	}
}

// TestRetriedNight: a retried run continues from the night before, not from itself. It reports the same changes again,
// and its memory is that of the retry.
func TestRetriedNight(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	n := newNights(t, 2, true)
	subject := n.subjects[1]
	first := n.night(1)
	want := n.edit(first)[subject]
	second := n.night(2)[subject]
	w := n.start(jobs.Settings{})
	for _, what := range []string{redisqueue.RetryAll, redisqueue.RetryReport} {
		intents, err := n.services.Queue.Retry(t.Context(), second.run.ID, what, 4)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.services.Dispatcher.Dispatch(t.Context(), intents); err != nil {
			t.Fatal(err)
		}
		n.until(second.run.ID, "published again", func(r topicqueue.Run) bool { return published(r) && r.State.Final() })
		again := n.read(subject, second.run.ID)
		if diff := cmp.Diff(want, told(again.changes), cmp.AllowUnexported(facts{})); diff != "" || again.changes.RunID != first[subject].run.ID {
			t.Errorf("retry of %s goes on from %s: %s", what, again.changes.RunID, diff)
		}
	}
	w.Stop()
	if third := n.night(3)[subject]; !third.changes.None() || third.changes.RunID != second.run.ID {
		t.Errorf("%+v", third.changes)
	}
}

// TestAllIsWithdrawn: if all sources of a topic are gone, the report starts with the withdrawn statements and is
// partial. The next night continues from it.
func TestAllIsWithdrawn(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNights(t, 1, extractive)
			subject := n.subjects[0]
			night := func(number int) nightReport { return n.left(subject, n.work(number, nil)[subject]) }
			first := night(1)
			var pages []corpustest.Page
			for _, p := range slices.Clone(n.corpus.Pages) {
				pages = append(pages, *p)
				n.corpus.Remove(p.URL)
			}
			second := night(2)
			why := second.run.Reason
			if second.run.State != topicqueue.RunPartial || !strings.HasPrefix(why, "the sources no longer support ") {
				t.Fatalf("%s: %s", second.run.State, second.run.Reason)
			}
			_, body, _ := strings.Cut(second.markdown, "\n## ")
			if !strings.Contains(body, "\n\n### Withdrawn\n\n- ") || strings.Contains(body, "### New") || strings.Contains(body, "## Gaps") || len(second.changes.Withdrawn) == 0 {
				t.Errorf("%s", second.markdown)
			}
			for _, p := range pages {
				n.corpus.Put(p)
			}
			if third := night(3); third.run.State != topicqueue.RunCompleted || third.changes == nil || len(third.changes.New) == 0 {
				t.Errorf("%s (%s): %+v after %d claims", third.run.State, third.run.Reason, third.changes, len(first.quotes))
			}
		})
	}
}

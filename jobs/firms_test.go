package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
	"nightdesk/jobs/internal/firmstest"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
	"nightdesk/topicqueue/scaletest"
)

// firms is a bench that researches the firms of a firmstest.Web every night. Firm i gets edit i between the first two
// nights.
type firms struct {
	*nights
	model *firmModel
	web   *firmstest.Web
	edits []firmstest.Edit

	extractive bool
}

// some returns every eighth element of a list, or all of them if FULL_TESTS is set.
func some[T any](all []T) (out []T) {
	each := scaletest.Of(8, 1)
	for i := each - 1; i < len(all); i += each {
		out = append(out, all[i])
	}
	return out
}

func newFirms(t *testing.T, edits []firmstest.Edit, extractive bool) *firms {
	t.Helper()
	f := &firms{web: firmstest.Start(t, len(edits)), edits: edits, extractive: extractive, model: &firmModel{tool: "web_search"}}
	model := f.model
	f.nights = &nights{model: &model.nightModel, topic: func(subject string) string { return "What is known of " + subject + "?" }}
	var served llm.Model
	if !extractive {
		served = model
	}
	f.bench = setup(t, redistest.Server(t), served)
	f.shares()
	for _, firm := range f.web.Firms {
		f.subjects = append(f.subjects, firm.Name)
	}
	return f
}

// research runs a night with a new HTTP client.
func (f *firms) research(number int) map[string]nightReport {
	f.t.Helper()
	outside := fetch.New(fetch.Settings{Allow: []string{f.web.Allow()}, PerHost: 1})
	engine, err := websearch.New(websearch.Settings{Name: "searxng", BaseURL: f.web.SearchURL(), Outside: outside, Pace: shared.NewPace(f.services.Redis), Every: time.Nanosecond})
	if err != nil {
		f.t.Fatal(err)
	}
	set := tools.Set{tools.NewWebSearch(websearch.NewChain(engine), 6), tools.NewOpenPage(outside)}
	f.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) { return jobs.Toolbox{Tools: set}, nil }
	return f.night(number)
}

// edit applies all edits.
func (f *firms) edit() {
	for i, e := range f.edits {
		f.web.Edit(i, e.Do)
	}
}

// finding is a change stated in a report.
type finding struct{ kind, old, now, place string }

func findings(c *recurring.Changes) (list []finding) {
	for _, s := range c.New {
		list = append(list, finding{"new", "", s.Quote, s.Document + s.URL})
	}
	for _, s := range c.Changed {
		list = append(list, finding{"changed", s.Old.Quote, s.New.Quote, s.New.Document + s.New.URL})
	}
	for _, s := range c.Withdrawn {
		list = append(list, finding{"withdrawn", s.Quote, "", s.Document + s.URL})
	}
	return list
}

func holds(quote string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(quote, part) {
			return false
		}
	}
	return true
}

// score compares the changes stated in a report with the expected ones.
type score struct {
	told, right, wanted, found int
	lines                      []string
}

func (s *score) add(other score) {
	s.told, s.right, s.wanted, s.found = s.told+other.told, s.right+other.right, s.wanted+other.wanted, s.found+other.found
	s.lines = append(s.lines, other.lines...)
}

func (s *score) precision() float64 { return float64(s.right) / float64(max(1, s.told)) }
func (s *score) recall() float64    { return float64(s.found) / float64(max(1, s.wanted)) }

// judge returns the score. Facts unknown to the first night are not required; if they change, they may be reported as
// new or as changed. Without a model no page is opened, so facts that no excerpt shows are not required.
func (f *firms) judge(edit firmstest.Edit, firm *firmstest.Firm, before, after nightReport) (s score) {
	var want []firmstest.Finding
	if edit.Want != nil {
		want = edit.Want(firm)
	}
	said := func(quotes map[string]bool, parts []string) bool {
		for quote := range maps.Keys(quotes) {
			if holds(quote, parts) {
				return true
			}
		}
		return false
	}
	told := findings(after.changes)
	right := make([]bool, len(told))
	for _, w := range want {
		kind := w.Kind
		if kind == "changed" && !said(before.quotes, w.Old) || kind == "moved" && !said(before.quotes, w.New) {
			kind = "new"
		}
		hit := false
		for i, g := range told {
			if (g.kind == kind || g.kind == w.Kind) && (g.kind == "new" || holds(g.old, w.Old)) && holds(g.now, w.New) {
				right[i], hit = true, true
			}
		}
		switch {
		case hit:
			s.wanted, s.found = s.wanted+1, s.found+1
		case w.Kind == "new" && (!f.extractive || f.web.Shown(w.New...)) || w.Kind != "moved" && w.Kind != "new" && said(before.quotes, w.Old):
			s.wanted++
			s.lines = append(s.lines, fmt.Sprintf("%s: not told: %+v", edit.Name, w))
		}
	}
	for i, g := range told {
		if !right[i] && f.elsewhere(firm, g) {
			continue
		}
		s.told++
		if right[i] {
			s.right++
		} else {
			s.lines = append(s.lines, fmt.Sprintf("%s: wrongly told: %s: %q => %q", edit.Name, g.kind, g.old, g.now))
		}
	}
	return s
}

// elsewhere reports whether a finding is due to another firm's edit, because a report may cite other firms.
func (f *firms) elsewhere(firm *firmstest.Firm, g finding) bool {
	for i, other := range f.web.Firms {
		if other == firm || f.edits[i].Want == nil {
			continue
		}
		for _, w := range f.edits[i].Want(other) {
			named := strings.Contains(g.old+g.now, other.Name) || slices.Contains(w.Old, g.old) || strings.Contains(g.place, strings.ToLower(strings.ReplaceAll(other.Name, " ", "-"))) // a sentence of it
			kind := w.Kind == g.kind && holds(g.old, w.Old) || w.Kind == "changed" && g.kind == "new"
			if named && kind && holds(g.now, w.New) {
				return true
			}
		}
	}
	return false
}

var textOfThen = regexp.MustCompile(
	`\[as of [0-9: UTC-]+(?: · the source is no longer there)?\]\(\.\./(cache/[^/)]+/pages/[0-9a-f]{64}\.txt)\)`,
)

// linked checks that former statements link to a text that contains them.
func (f *firms) linked(r nightReport) {
	f.t.Helper()
	for _, old := range slices.Concat(oldSides(r.changes.Changed), taken(r.changes.Withdrawn)) {
		_, entry, _ := strings.Cut(r.markdown, `<a id="ref-`+strings.ToLower(old.Citations[0])+`"></a>`)
		entry, _, _ = strings.Cut(entry, "\n\n")
		link := textOfThen.FindStringSubmatch(entry)
		if link == nil {
			f.t.Errorf("%q leads to %q", old.Quote, entry)
			continue
		}
		if text, err := f.services.Store.Get(f.t.Context(), link[1]); err != nil || !strings.Contains(topicqueue.OneLine(string(text)), old.Quote) {
			f.t.Errorf("%q does not stand in %s: %v", old.Quote, link[1], err)
		}
	}
}

// moves reports whether sources cited by a report have moved: those of firm i, or of another firm that it cites.
func (f *firms) moves(i int, before nightReport) bool {
	for n, other := range f.web.Firms {
		if f.edits[n].Moves && (n == i || slices.ContainsFunc(slices.Collect(maps.Keys(before.quotes)), func(quote string) bool { return strings.Contains(quote, other.Name) })) {
			return true
		}
	}
	return false
}

// TestWhatChangedElsewhere checks the reported changes for each kind of edit, on a web that the change detection was
// not developed with.
func TestWhatChangedElsewhere(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, extractive := range map[string]bool{"model": false, "extractive": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFirms(t, some(firmstest.Edits()), extractive)
			first := f.research(1)
			f.edit()
			second := f.research(2)
			f.compare(first, second, 0.95, 0.95)
		})
	}
}

// compare checks the changes reported in the second night, and its cost.
func (f *firms) compare(first, second map[string]nightReport, precision, recall float64) {
	f.t.Helper()
	var all score
	calls := [2]int{}
	for i, firm := range f.web.Firms {
		one, two := first[firm.Name], second[firm.Name]
		if two.changes == nil {
			f.t.Fatalf("%s: no changes", f.edits[i].Name)
		}
		s := f.judge(f.edits[i], firm, one, two)
		all.add(s)
		f.linked(two)
		f.t.Logf("%-45s told %d right %d wanted %d found %d unchecked %d calls %d of %d", f.edits[i].Name, s.told, s.right, s.wanted, s.found, two.changes.Unchecked, two.calls, one.calls)
		for _, line := range s.lines {
			f.t.Log("  ", line)
		}
		if f.edits[i].Want == nil && two.changes.None() && !f.moves(i, one) {
			calls[0], calls[1] = calls[0]+one.calls, calls[1]+two.calls
			if 10*two.calls > one.calls {
				f.t.Errorf("%s: nothing to tell, but %d calls of %d: %v", f.edits[i].Name, two.calls, one.calls, two.steps)
			}
		}
	}
	f.t.Logf("precision %.3f of %d told, recall %.3f of %d wanted; calls where nothing was to tell: %d, then %d", all.precision(), all.told, all.recall(), all.wanted, calls[0], calls[1])
	if all.precision() < precision || all.recall() < recall {
		f.t.Error("too little is told rightly")
	}
}

// TestWhatChangedInDirectories applies the same edits to files in a directory, and further edits that only files can
// have.
func TestWhatChangedInDirectories(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	if scaletest.Race && !scaletest.Full {
		t.Skip("the race detector has as much of TestWhatChangedElsewhere")
	}
	edits := slices.DeleteFunc(firmstest.Edits(), func(e firmstest.Edit) bool { return !e.Local })
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		filings := make([]firmstest.Filing, len(edits))
		for i, e := range edits {
			filings[i].Edit = e
		}
		directories(t, some(filings), 0.95, 0.95)
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		filings := some(firmstest.Filings())
		for range filings { // others, to which nothing happens
			filings = append(filings, firmstest.Filing{Edit: firmstest.Edit{Name: "bystander", Do: func(*firmstest.Firm) {}}})
		}
		directories(t, filings, 0.95, 0.95)
	})
}

// directories checks two nights over a directory of files. Filing i is applied to the files of firm i.
func directories(t *testing.T, filings []firmstest.Filing, precision, recall float64) {
	t.Helper()
	edits := make([]firmstest.Edit, len(filings))
	for i, filing := range filings {
		edits[i] = filing.Edit
	}
	f := newFirms(t, edits, false)
	f.model.tool = "rag_hybrid"
	base, err := knowledge.Create(filepath.Join(t.TempDir(), "firms.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	dir := t.TempDir()
	published := map[string]*knowledge.Base{}
	f.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		base := published[run.Options.KnowledgeVersion]
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}, Sections: base, Documents: base}, nil
	}
	night := func(number int) map[string]nightReport {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for i, filing := range filings {
			files := f.web.Files(i)
			if filing.File != nil {
				filing.File(f.web.Firms[i], files, number > 1)
			}
			for name, text := range files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		rep, err := base.Ingest(t.Context(), []string{dir}, nil)
		if err != nil || len(rep.Skipped) > 0 {
			t.Fatal(err, rep.Skipped)
		}
		version, err := knowledge.Publish(t.Context(), base, f.services.Store)
		if err != nil {
			t.Fatal(err)
		}
		path, err := knowledge.Fetch(t.Context(), f.services.Store, t.TempDir(), "firms", version)
		if err != nil {
			t.Fatal(err)
		}
		if published[version], err = knowledge.Open(path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { published[version].Close() })
		return f.nightOf(number, func(o *topicqueue.Options) {
			o.KnowledgeBase, o.KnowledgeVersion, o.Tools = "firms", version, []string{"rag_hybrid"}
		})
	}
	first := night(1)
	f.edit()
	f.compare(first, night(2), precision, recall)
}

// firmModel researches firms as nightModel does harbours. It opens all pages found and notes every sentence and row
// about the firm that has its name or a figure, except delivery data of the page.
type firmModel struct {
	nightModel
	tool string // that searches
}

var (
	firmSubject  = regexp.MustCompile(`What is known of ([A-Z][a-z]+ [A-Z][a-z]+)\?`)
	firmRecord   = regexp.MustCompile(`\{[^{}]+\}`)
	firmSentence = regexp.MustCompile(`[^.?!]+(?:[.?!]+(?:[^ \n][^.?!]*[.?!]*)*|$)`)
	firmDelivery = regexp.MustCompile(`(?i)\bago\b|online|served at|min read|shared this|garden chairs|kettle|fly to|piano|moths|immediate release|copyright|^#|licence`)
	someFigure   = regexp.MustCompile(`\d{2}`)
)

func (m *firmModel) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	return m.reply(req, firmSubject, func(step, subject string) any {
		switch step {
		case "decompose":
			return prompts.DecomposeAnswer{SubTopics: []prompts.DecomposedTopic{
				{Title: "History, people and sites of " + subject, Overview: "What it is.", Queries: []string{subject + " company people sites"}},
				{Title: "Products and results of " + subject, Overview: "What it makes.", Queries: []string{subject + " products prices revenue"}},
			}}
		case "decide":
			words := []string{"plant council news", "questions answers repairs", "change log firmware", "year revenue orders", "experience forum", "stock refurbished", "status plant water", "about services sites"}
			n := req.Position.Iteration - 2 // the first asks what the block was planned for
			if req.Position.Block == "block_2" {
				n += len(words) / 2
			}
			return decideNight(req, subject, prompts.Action{ToolType: m.tool, Query: subject + " " + words[n%len(words)]})
		case "note":
			return noteFirm(req.Prompt.User, subject)
		case "outline":
			return outlineNight("What is known of "+subject, "What it is", "What it makes")
		}
		return nil
	})
}

func noteFirm(question, subject string) prompts.NoteAnswer {
	a := prompts.NoteAnswer{}
	_, sources, _ := strings.Cut(question, "\nSources:")
	for _, task := range []string{"\nWhat block_", "\nThe sources were found for ", "\nRead every source."} {
		sources, _, _ = strings.Cut(sources, task)
	}
	for n, part := range strings.Split(sources, "\nSource ")[1:] {
		_, part, _ = strings.Cut(part, "\n") // its number
		for _, s := range firmRecord.FindAllString(part, -1) {
			a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: topicqueue.OneLine(s), Quote: s})
		}
		part = firmRecord.ReplaceAllString(part, "")
		for line := range strings.Lines(part) {
			for _, s := range firmSentence.FindAllString(line, -1) {
				s = strings.TrimSpace(strings.TrimLeft(s, " -*"))
				if len(strings.Fields(s)) < 4 || strings.HasPrefix(s, "Title: ") || firmDelivery.MatchString(s) || !strings.Contains(s, subject) && !someFigure.MatchString(s) {
					continue
				}
				a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: s, Quote: s})
			}
		}
	}
	return a
}

// TestNightsInARow: each night is compared with the last good one. A page that is unavailable for one night is not a
// change, neither when it disappears nor when it returns. A value that returns to its former state is a change.
func TestNightsInARow(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	names := []string{"back", "away", "login", "gone", "later", "still"}
	f := newFirms(t, make([]firmstest.Edit, len(names)), false)
	at := func(which string) int { return slices.Index(names, which) }
	name := func(which string) string { return f.web.Firms[at(which)].Name }
	people := func(number string) func(*firmstest.Firm) {
		return func(firm *firmstest.Firm) { firm.Operations[0] = firm.Name + " employs " + number + " people." }
	}
	state := func(kind, state string) func(*firmstest.Firm) {
		return func(firm *firmstest.Firm) { firm.Page(kind).State = state }
	}
	check := func(night int, last, now map[string]nightReport, want map[string][]string) {
		t.Helper()
		for _, which := range names {
			c := now[name(which)].changes
			if c == nil || c.RunID != last[name(which)].run.ID {
				t.Fatalf("night %d, %s: %+v", night, which, c)
			}
			var got []string
			for _, g := range findings(c) {
				got = append(got, topicqueue.OneLine(g.kind+" "+g.old+" "+g.now))
			}
			var wanted []string
			for _, w := range want[which] {
				wanted = append(wanted, strings.ReplaceAll(w, "%", name(which)))
			}
			slices.Sort(got)
			slices.Sort(wanted)
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("night %d, %s: %s", night, which, diff)
			}
		}
	}
	employs := fmt.Sprintf("%% employs %s people.", "4,200") // of the first firm
	first := f.research(1)

	f.web.Edit(at("back"), people("5,131"))
	f.web.Edit(at("away"), state(firmstest.Questions, "503"))
	f.web.Edit(at("login"), state(firmstest.News, "wall"))
	f.web.Edit(at("gone"), state(firmstest.Live, "404"))
	second := f.research(2)
	check(2, first, second, map[string][]string{
		"back": {"changed " + employs + " % employs 5,131 people."},
		"gone": {"withdrawn % uses 1,639 cubic metres of water a week.", "withdrawn The plant of % can make 7,739 units a day."},
	})

	// A failed night is not remembered.
	f.web.Edit(at("later"), people("6,006"))
	good := f.services.Toolbox
	f.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{}, fmt.Errorf("no tools tonight: %w", llm.ErrPermanent)
	}
	for subject, runID := range f.work(3, nil) {
		if run := f.run(runID); run.State != topicqueue.RunFailed {
			t.Fatalf("%s: %s", subject, run.State)
		}
	}
	f.services.Toolbox = good

	f.web.Edit(at("back"), people("4,200"))
	for _, which := range []string{"away", "login", "gone"} {
		for _, kind := range []string{firmstest.Questions, firmstest.News, firmstest.Live} {
			f.web.Edit(at(which), state(kind, ""))
		}
	}
	fourth := f.research(4)
	check(4, second, fourth, map[string][]string{
		"back":  {"changed % employs 5,131 people. " + employs},
		"gone":  {"new % uses 1,639 cubic metres of water a week.", "new The plant of % can make 7,739 units a day."},
		"later": {"changed % employs 4,252 people. % employs 6,006 people."},
	})
	fifth := f.research(5)
	check(5, fourth, fifth, nil)
	for _, which := range names {
		if r := fifth[name(which)]; r.calls > 0 {
			t.Errorf("%s: nothing has changed, but %d calls: %v", which, r.calls, r.steps)
		}
	}
}

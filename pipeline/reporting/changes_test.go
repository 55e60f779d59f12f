package reporting_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// bodies returns the text of a report by heading, without the part on what has changed.
func bodies(markdown string) map[string]string {
	found := map[string]string{}
	for i, part := range strings.Split(markdown, "\n## ") {
		heading, text, _ := strings.Cut(part, "\n")
		if i == 0 {
			heading = ""
		}
		if !strings.HasPrefix(heading, "What changed") {
			found[heading] = text
		}
	}
	return found
}

// The second report asks for what has moved alone: the section of a block with news is written anew, with the frame,
// the other one is kept word for word; where nothing has moved, nobody is asked.
func TestKeptText(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.Prompt.Name)
		return writer(req)
	})
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		asked = nil
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(asked)
		return got
	}
	first := evidence(t, topicqueue.CitationAnchors)
	first.Run.Options.Incremental = true
	one := report(first)
	if one.Text == nil || one.Changes != nil {
		t.Fatalf("text %+v, changes %+v", one.Text, one.Changes)
	}
	body, err := json.Marshal(one.Text)
	if err != nil {
		t.Fatal(err)
	}

	second := evidence(t, topicqueue.CitationAnchors)
	second.Run.Options.Incremental = true
	if second.Before, err = reporting.ReadText(body); err != nil {
		t.Fatal(err)
	}
	for i := range second.Blocks {
		for j := range second.Blocks[i].Traces {
			second.Blocks[i].Traces[j].Since = "2025-06-01"
		}
	}
	second.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old"}
	for _, g := range one.Gaps {
		second.Open = append(second.Open, recurring.Open(g))
	}
	two := report(second)
	if len(asked) > 0 {
		t.Errorf("nothing has moved, and these were asked: %q", asked)
	}
	texts := prompts.TextsIn("en")
	head, rest, _ := strings.Cut(two.Markdown, "## "+texts.Changes.With(prompts.V{"Date": "2025-06-01"})+"\n\n")
	part, text, _ := strings.Cut(rest, "\n---\n\n")
	if head+text != one.Markdown {
		t.Errorf("the report is another:\n%s\n\n%s", one.Markdown, two.Markdown)
	}
	for _, open := range []string{texts.NoChanges.With(prompts.V{"Date": "2025-06-01"}), "### " + texts.Open.String(),
		"- **Costs of storage**: " + one.Gaps[0].Reason, "- **Backups**: " + one.Gaps[1].Reason} {
		if !strings.Contains(part, open) {
			t.Errorf("no %q in %s", open, part)
		}
	}
	if len(two.Verification.Sentences) != len(one.Verification.Sentences) || two.Verification.Counts != one.Verification.Counts {
		t.Errorf("checked %+v, before %+v", two.Verification.Counts, one.Verification.Counts)
	}

	third := second
	third.Blocks = slices.Clone(second.Blocks)
	log := &third.Blocks[0]
	log.Traces = slices.Clone(log.Traces)
	gone := log.Traces[1].Claims[1]
	lost := log.Traces[1]
	log.Traces[1].Claims = slices.Delete(slices.Clone(log.Traces[1].Claims), 1, 2)
	lost.CitationID, lost.Claims, lost.Withdrawn = "CIT-1-03", nil, []topicqueue.Claim{gone}
	lost.Source.AsOf = &topicqueue.AsOf{RunID: "research_old", Date: "2025-06-01", Gone: true}
	log.Traces = append(log.Traces, lost)
	was7, is9 := recurring.Said{Value: "7", Citations: []string{"CIT-1-03"}}, recurring.Said{Value: "9",
		Title: "Costs", Citations: []string{"CIT-1-01"}}
	third.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old", Changed: []recurring.Change{
		{Kind: recurring.ChangedValue, What: "Paper (euros), 2023", Old: was7, New: is9}}, Withdrawn: []recurring.Withdrawn{
		{Said: recurring.Said{Statement: gone.Text, Quote: gone.Quote, Citations: []string{"CIT-1-03"}, BlockID: "block_1"}}},
		New: []recurring.Said{
			{Statement: "One.", Quote: "One.", Title: "Pages", About: "Ann, 2025-06", Citations: []string{"CIT-1-01"}},
			{Statement: "Two.", Quote: "Two.", Title: "Pages", Citations: []string{"CIT-1-02"}},
			{Statement: "Three.", Quote: "Three.", Title: "Locks", Citations: []string{"CIT-1-01"}},
		}}
	three := report(third)
	if want := []string{"author", "renew"}; !slices.Equal(slices.DeleteFunc(asked,
		func(s string) bool { return s == "judge" }), want) {
		t.Errorf("one block has moved, and %q were asked, want %q", asked, want)
	}
	was, is := bodies(one.Markdown), bodies(three.Markdown)
	if was["Copies on other machines"] == "" || was["Copies on other machines"] != is["Copies on other machines"] {
		t.Errorf("a section that has not moved was written anew:\n%s", is["Copies on other machines"])
	}
	for _, part := range []string{
		"### " + texts.Withdrawn.String() + "\n\n- The setting checkpoint_interval defaults to 300 seconds. [[CIT-1-03](#ref-cit-1-03)] (" + texts.Unsaid.String() + ")\n",
		"### " + texts.Changed.String() + "\n\n- *Costs*: Paper (euros), 2023: **7 → 9** [[CIT-1-01](#ref-cit-1-01)]\n  - " + texts.Before.String() + ": 7 [[CIT-1-03](#ref-cit-1-03)]\n",
		"### " + texts.New.String() + "\n\n- *Pages* (Ann, 2025-06)\n  - One. [[CIT-1-01](#ref-cit-1-01)]\n  - Two. [[CIT-1-02](#ref-cit-1-02)]\n" +
			"- *Locks*: Three. [[CIT-1-01](#ref-cit-1-01)]\n",
		"· [" + texts.AsOf.With(prompts.V{"Date": "2025-06-01"}) + " · " + texts.Gone.String() + "](../cache/research_old/pages/" + lost.Source.Hash + ".txt)",
	} {
		if !strings.Contains(three.Markdown, part) {
			t.Errorf("no %q in\n%s", part, three.Markdown)
		}
	}
}

// A section of the last report that a new claim overtakes is written again, with that claim and what the model says of
// it, though the claim stands in another section; on the night after that nobody is asked.
func TestOvertakenSection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]string{}
	answer := `{"sections": []}`
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[req.Prompt.Name] += req.Prompt.User
		if req.Prompt.Name == "renew" {
			return answer, nil
		}
		return writer(req)
	})
	report := func(in reporting.Input, before *reporting.Text) reporting.Report {
		t.Helper()
		clear(asked)
		in.Run.Options.Incremental, in.Before = true, before
		if before != nil {
			in.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old"}
		}
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := report(evidence(t, topicqueue.CitationAnchors), nil).Text
	at := func(title string) int {
		titled := func(s reporting.OutlineSection) bool { return s.Title == title }
		return 1 + slices.IndexFunc(first.Outline.Sections, titled)
	}
	in := evidence(t, topicqueue.CitationAnchors)
	news := "The server never promotes itself: an operator or an outside program has to decide."
	in.Blocks[1].Traces = append(in.Blocks[1].Traces, found(t, "CIT-2-04", "standby", 4, news))
	in.Blocks[1].Traces[0].Dropped = 1 // its other claims say what they said
	answer = fmt.Sprintf(`{"sections": [{"section": %d, "claims": [1], "instruction": "Add the operator."},
		{"section": %d, "claims": [1], "instruction": "That nobody decides no longer holds."},
		{"section": 99, "claims": [], "instruction": ""}]}`, at("Copies on other machines"), at("The log"))
	second := report(in, first)
	q := asked["renew"]
	if alone := strings.Contains(q, "1: "+news) && !strings.Contains(q, "\n2: "); !alone ||
		!strings.Contains(q, "Every change is appended to the log") {
		t.Errorf("the model is not shown what is new, or what was written:\n%s", q)
	}
	written := asked["author"]
	last := "As the last report had it."
	for _, want := range []string{`section "The log"`, "That nobody decides no longer holds.", "Add the operator.",
		last} {
		if !strings.Contains(written, want) {
			t.Errorf("no %q in\n%s", want, written)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^Its claims: .*\[CIT-2-02\]`).FindAllString(written, -1)); n != 2 {
		t.Errorf("%d sections have the new claim, want 2:\n%s", n, written)
	}
	in.Blocks[1].Traces[0].Dropped = 0
	report(in, second.Text)
	if len(asked) > 0 {
		t.Errorf("nothing has moved, and these were asked: %q", slices.Collect(maps.Keys(asked)))
	}
}

// What the last report planned on evidence that has moved is not asked for again.
func TestStalePlan(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked strings.Builder
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if req.Prompt.Name == "author" {
			asked.WriteString(req.Prompt.User)
		}
		return writer(req)
	})
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		in.Run.Options.Incremental = true
		asked.Reset()
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := report(evidence(t, topicqueue.CitationAnchors)).Text
	o := &before.Outline
	o.Title, o.Introduction, o.Conclusion = "Recovery every 300 seconds", "Open with the interval.",
		"Close with the interval."
	var moved int
	for i := range o.Sections {
		s := &o.Sections[i]
		s.Title, s.Instruction = fmt.Sprintf("Part %c, with 300 seconds", 'A'+i), fmt.Sprintf("Instruction %c.", 'A'+i)
		if slices.Contains(s.AllClaimIDs(), "CIT-1-02.2") {
			moved = i
		}
	}
	in := evidence(t, topicqueue.CitationAnchors)
	trace := &in.Blocks[0].Traces[1]
	gone := trace.Claims[1]
	trace.Claims, trace.Dropped = slices.Delete(slices.Clone(trace.Claims), 1, 2), 1
	in.Before = before
	in.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old", Withdrawn: []recurring.Withdrawn{
		{Said: recurring.Said{Statement: gone.Text, Quote: gone.Quote, Citations: []string{"CIT-1-02"}}},
	}}
	for i := range in.Blocks {
		for j := range in.Blocks[i].Traces {
			in.Blocks[i].Traces[j].Since = "2025-06-01"
		}
	}
	got := report(in)
	for _, stale := range []string{
		fmt.Sprintf("Instruction %c.", 'A'+moved), "the interval.", fmt.Sprintf("Part %c, with 300", 'A'+moved),
		"Recovery every 300 seconds",
	} {
		if strings.Contains(asked.String(), stale) {
			t.Errorf("%q is asked for again in %s", stale, asked.String())
		}
	}
	if strings.HasPrefix(got.Markdown, "# Recovery every 300") ||
		got.Text.Outline.Sections[moved].Title == o.Sections[moved].Title {
		t.Errorf("title %.60q, section %q", got.Markdown, got.Text.Outline.Sections[moved].Title)
	}
	for i, s := range got.Text.Outline.Sections {
		if i != moved && s.Instruction == "" {
			t.Errorf("section %d rests on what stands and has lost its instruction", i)
		}
	}
}

// A part of the last report whose sources were read again is kept, and what was found of its sentences is looked up in
// the new texts, without a model; where a source does not bear out a sentence any more, the part is checked as a new
// one.
func TestKeptTextOfNewEditions(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var judged int
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		judged++
		return writer(req)
	})
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		judged = 0
		in.Run.Options.Incremental = true
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := report(evidence(t, topicqueue.CitationAnchors))
	in := evidence(t, topicqueue.CitationAnchors)
	in.Before, in.Changes = before.Text, &recurring.Changes{Since: "2025-06-01", RunID: "research_old"}
	for i := range in.Blocks {
		for j := range in.Blocks[i].Traces {
			trace := &in.Blocks[i].Traces[j]
			trace.Since, trace.Reread = "2025-06-01", true
			trace.Source.Text = "A new beginning.\n\n" + trace.Source.Text
			trace.Source.ID = "src_new" + trace.Source.ID
			for k := range trace.Claims {
				c := &trace.Claims[k]
				c.SourceID, c.Start, c.End = trace.Source.ID, c.Start+len("A new beginning.\n\n"), c.End+len("A new beginning.\n\n")
			}
		}
	}
	after := report(in)
	if judged > 0 || len(after.Verification.Sentences) != len(before.Verification.Sentences) {
		t.Errorf("%d questions, %d sentences checked, before %d", judged, len(after.Verification.Sentences),
			len(before.Verification.Sentences))
	}
	shown := 0
	for _, s := range after.Verification.Sentences {
		if strings.HasPrefix(s.Source, "src_new") {
			shown++
		} else if s.Source != "" {
			t.Errorf("%q is shown by %s, which is not the new text", s.Text, s.Source)
		}
	}
	if shown == 0 {
		t.Error("no sentence is shown by its source: the test shows nothing")
	}
}

// A passage that was found twice is cited tonight by the other of its two: what is kept of the last report has that
// citation as well, and so has the text that a writer goes on from.
func TestKeptTextOfAnotherCitation(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var shown string
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		text, err := writer(req)
		if req.Prompt.Name == "author" {
			shown += req.Prompt.User
			if strings.Contains(req.Prompt.User, "[CIT-1-09]") {
				text = strings.ReplaceAll(text, "altered [CIT-1-01]", "altered [CIT-1-09]")
			}
		}
		return text, err
	})
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		shown = ""
		in.Run.Options.Incremental = true
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	night := func(order ...int) reporting.Input {
		in := evidence(t, topicqueue.CitationAnchors)
		log := &in.Blocks[0]
		twice := log.Traces[0]
		twice.CitationID, twice.Claims = "CIT-1-09", slices.Clone(twice.Claims[:1])
		twice.Claims[0].ID, twice.Claims[0].CitationID, twice.Claims[0].Text = "CIT-1-09.1", "CIT-1-09", "Said otherwise."
		both := []topicqueue.ToolTrace{log.Traces[0], twice}
		log.Traces = append([]topicqueue.ToolTrace{both[order[0]], both[order[1]]}, log.Traces[1:]...)
		return in
	}
	one := report(night(0, 1))
	later := func(in reporting.Input) reporting.Report {
		both := recurring.Said{Statement: "Both say it.", Quote: "Both say it.", Citations: []string{"CIT-1-01", "CIT-1-09"}}
		in.Before = one.Text
		in.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old", New: []recurring.Said{both}}
		for i := range in.Blocks {
			for j := range in.Blocks[i].Traces {
				in.Blocks[i].Traces[j].Since = "2025-06-01"
			}
		}
		return report(in)
	}
	cites := func(r reporting.Report, id string) bool {
		return strings.Contains(r.Markdown, "(#ref-"+strings.ToLower(id)+")") &&
			slices.ContainsFunc(r.Verification.Sentences, func(s checking.Sentence) bool {
				return slices.Contains(s.Citations, id)
			})
	}
	if !cites(one, "CIT-1-01") || cites(one, "CIT-1-09") {
		t.Fatal(one.Markdown)
	}
	kept := later(night(1, 0))
	if shown != "" || !cites(kept, "CIT-1-09") || cites(kept, "CIT-1-01") {
		t.Errorf("asked %s\n%s", shown, kept.Markdown)
	}
	if !strings.Contains(kept.Markdown, "- Both say it. [[CIT-1-09](#ref-cit-1-09)]\n") {
		t.Errorf("what changed cites a passage by two numbers:\n%s", kept.Markdown)
	}
	moved := night(1, 0)
	moved.Blocks[0].Traces[2].Dropped = 1
	anew := later(moved)
	_, last, _ := strings.Cut(shown, "As the last report had it")
	_, last, _ = strings.Cut(last, "before the pages are altered ")
	if !strings.HasPrefix(last, "[CIT-1-09]") || strings.Contains(shown, "[CIT-1-01].") || !cites(anew, "CIT-1-09") {
		t.Errorf("shown %.300s\n%s", last, anew.Markdown)
	}
}

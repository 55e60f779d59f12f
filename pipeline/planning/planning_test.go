package planning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run.Options.Rephrase, d.run.Options.RephraseIterations = true, 3
	plan, err := d.plan()
	if err != nil {
		t.Fatal(err)
	}
	if plan.Topic != words(250) || plan.Mode != "manual" || titles(plan) != "Spring tides|Neap tides|Tidal range" || len(plan.Fallbacks) != 0 {
		t.Errorf("plan %+v", plan)
	}
	if want := []string{d.run.Topic}; !slices.Equal(plan.Queries, want) {
		t.Errorf("queries %q", plan.Queries)
	}
	if len(plan.Traces) != 1 {
		t.Fatalf("%d traces", len(plan.Traces))
	}
	for i, tr := range plan.Traces {
		if tr.CitationID != fmt.Sprintf("PLAN-0%d", i+1) || tr.Query != plan.Queries[i] || tr.ToolType != "rag_hybrid" ||
			tr.RawAnswer == "" || tr.Source.ID == "" || tr.BlockID != "" || !strings.HasPrefix(tr.Summary, "The tides rise and fall twice a day.") {
			t.Errorf("trace %+v", tr)
		}
	}
	if want := "start_query_rewriter end_query_rewriter start_search_background end_search_background " +
		"start_research_planner"; d.steps() != want {
		t.Errorf("events %q, want %q", d.steps(), want)
	}
	if q := d.questions("decompose")[0].Prompt.User; !strings.Contains(q, "PLAN-01") || !strings.Contains(q, "rise and fall") {
		t.Errorf("background is not shown:\n%s", q)
	}
	positions := map[llm.Position]bool{}
	for _, req := range d.asked {
		if positions[req.Position] || req.Position.Stage != "planning" || req.Role != llm.Planner {
			t.Errorf("position %+v", req.Position)
		}
		positions[req.Position] = true
	}
}

func TestRephrase(t *testing.T) {
	t.Parallel()
	cjk := strings.Repeat("潮汐", 180) // 360 signs: 240 words
	tests := []struct {
		name     string
		rounds   []any
		max      int
		topic    string
		asked    int
		end      string
		fallback string
	}{
		{"right at once", []any{words(200)}, 3, words(200), 1, "end_query_rewriter", ""},
		{"right in the second round", []any{words(90), words(400)}, 3, words(400), 2, "end_query_rewriter", ""},
		{"signs instead of words", []any{cjk}, 3, cjk, 1, "end_query_rewriter", ""},
		{"never right: the nearest", []any{words(90), words(150), words(120)}, 3, words(150), 3, "end_query_rewriter", ""},
		{"too long: the nearest", []any{words(800), words(450)}, 2, words(450), 2, "end_query_rewriter", ""},
		{"useless", []any{"tides", ""}, 2, "How do tides work?", 2, "end_query_rewriter_no_feedback", "rephrase: "},
		{"bad answers", []any{"no json"}, 3, "How do tides work?", 1, "end_query_rewriter_no_feedback", "rephrase: "},
		{"server away", []any{fmt.Errorf("503: %w", llm.ErrUnavailable)}, 3, "How do tides work?", 1, "end_query_rewriter_no_feedback", "rephrase: "},
		{"failure after a usable round", []any{words(90), fmt.Errorf("503: %w", llm.ErrUnavailable)}, 3, words(90), 2, "end_query_rewriter", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.run.Options.Rephrase, d.run.Options.RephraseIterations = true, tt.max
			d.answers["rephrase"] = func(req llm.Request) any {
				a := tt.rounds[req.Position.Iteration-1]
				if s, ok := a.(string); ok && s != "no json" {
					return prompts.RephraseAnswer{Topic: s}
				}
				return a
			}
			plan, err := d.plan()
			if err != nil {
				t.Fatal(err)
			}
			if plan.Topic != tt.topic || len(d.questions("rephrase")) != tt.asked || d.step(1) != tt.end {
				t.Errorf("topic of %d bytes after %d rounds, %s", len(plan.Topic), len(d.questions("rephrase")), d.step(1))
			}
			if got := strings.Join(plan.Fallbacks, "\n"); !strings.HasPrefix(got, tt.fallback) || (tt.fallback == "") != (got == "") {
				t.Errorf("fallbacks %q", got)
			}
		})
	}
	d := newDesk(t)
	if _, err := d.plan(); err != nil || len(d.questions("rephrase")) != 0 || d.step(1) != "end_query_rewriter_no_feedback" {
		t.Errorf("without rephrasing: %v, %s", err, d.steps())
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		arrange func(d *desk)
		queries int
		traces  int
		end     string
	}{
		{"the topic is searched", func(*desk) {}, 1, 1, "end_search_background"},
		{"no tool", func(d *desk) { d.search = nil }, 0, 0, "end_search_background"},
		{"tool not enabled", func(d *desk) { d.run.Options.Tools = nil }, 0, 0, "end_search_background"},
		{"nothing found", func(d *desk) { d.search = func(string) tools.Result { return tools.Result{Text: "nothing"} } }, 1, 0, "end_search_background"},
		{"search fails", func(d *desk) {
			d.search = func(string) tools.Result { return tools.Result{Failed: true, Text: "broken"} }
		}, 1, 0, "fail_search_background"},
		{"off the topic", func(d *desk) {
			d.search = func(string) tools.Result {
				return tools.Result{Text: "t", Sources: []topicqueue.Source{passage("cheese.md", "Cheese", "Cheddar is a hard cheese.")}}
			}
		}, 1, 0, "end_search_background"},
		{"on the topic by its heading", func(d *desk) {
			d.search = func(string) tools.Result {
				return tools.Result{Text: "t", Sources: []topicqueue.Source{passage("tides.md", "Tides", "The sea follows the moon.")}}
			}
		}, 1, 1, "end_search_background"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			tt.arrange(d)
			plan, err := d.plan()
			if err != nil {
				t.Fatal(err)
			}
			if len(d.queries) != tt.queries || len(plan.Traces) != tt.traces || d.step(3) != tt.end {
				t.Errorf("%d queries %q, %d traces, %s", len(d.queries), d.queries, len(plan.Traces), d.step(3))
			}
			if titles(plan) != "Spring tides|Neap tides|Tidal range" {
				t.Errorf("planning did not go on: %q", titles(plan))
			}
		})
	}
}

func TestDecompose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		mode     string
		answer   any
		want     string
		fallback string
	}{
		{"cleaned", "manual", topics(" 1. Spring  tides", `"Neap tides"`, "## Tidal\nrange"), "Spring tides|Neap tides|Tidal range", ""},
		{"numbers that belong", "manual", topics("3D models of tides", "1.5 metre waves", "2024 floods"), "3D models of tides|1.5 metre waves|2024 floods", ""},
		{"too many", "manual", topics("A tide", "B tide", "C tide", "D tide"), "A tide|B tide|C tide", ""},
		{"duplicates and blanks", "auto", topics("Spring tides", "", "spring TIDES", "Tides of spring", "Neap tides"), "Spring tides|Neap tides", ""},
		{"fewer in auto mode", "auto", topics("Spring tides"), "Spring tides", ""},
		{"fewer in manual mode", "manual", topics("Spring tides"), "Spring tides", ""},
		{"none", "auto", topics(), "How do tides work?", "decompose: the model gave no usable sub-topic"},
		{"bad answers", "manual", "no json", "How do tides work?", "decompose: the plan follows"},
		{"window too small", "manual", fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength), "How do tides work?", "decompose: the plan follows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.run.Options.DecomposeMode = tt.mode
			d.search = func(string) tools.Result {
				return tools.Result{Text: "t", Sources: []topicqueue.Source{passage("coast.md", "Coasts", "The tides shape the coast. How tides work there depends on its form.")}}
			}
			d.answers["decompose"] = func(llm.Request) any { return tt.answer }
			plan, err := d.plan()
			if err != nil {
				t.Fatal(err)
			}
			if titles(plan) != tt.want {
				t.Errorf("sub-topics %q, want %q", titles(plan), tt.want)
			}
			if got := strings.Join(plan.Fallbacks, "\n"); !strings.HasPrefix(got, tt.fallback) || (tt.fallback == "") != (got == "") {
				t.Errorf("fallbacks %q", got)
			}
		})
	}
}

func TestStarterQueries(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.answers["decompose"] = func(llm.Request) any {
		a := topics("Spring tides", "Neap tides")
		a.SubTopics[0].Queries = []string{" tides\nmoon ", "", "Moon, tides", "a1 tide", "a2 tide", "a3 tide", "a4 tide"}
		a.SubTopics[1].Queries = []string{"MOON tides", "b1 tide"}
		return a
	}
	plan, err := d.plan()
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.SubTopics[0].Queries; !slices.Equal(got, []string{"tides moon", "a1 tide", "a2 tide", "a3 tide"}) {
		t.Errorf("first: %q", got)
	}
	if got := plan.SubTopics[1].Queries; !slices.Equal(got, []string{"b1 tide"}) {
		t.Errorf("second: %q", got)
	}
}

// If nothing else works, the topic itself is the plan.
func TestLastResort(t *testing.T) {
	t.Parallel()
	for _, model := range []bool{true, false} {
		d := newDesk(t)
		d.search = nil
		d.answers["decompose"] = func(llm.Request) any { return "no json" }
		if !model {
			d.p.Model = nil
		}
		plan, err := d.plan()
		if err != nil || len(plan.SubTopics) != 1 || plan.SubTopics[0].Title == "" || !slices.Equal(plan.SubTopics[0].Queries, []string{"How do tides work?"}) {
			t.Errorf("model %v: %+v, %v", model, plan, err)
		}
		if (len(plan.Fallbacks) > 0) != model {
			t.Errorf("model %v: fallbacks %q", model, plan.Fallbacks)
		}
	}
}

// If the window is too small for the background, less of it is shown.
func TestDecomposeShrinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.search = func(q string) tools.Result {
		return tools.Result{Text: "t", Sources: []topicqueue.Source{passage(q+".md", q, strings.Repeat("The tides rise. "+q+". ", 200))}}
	}
	answer := d.answers["decompose"]
	d.answers["decompose"] = func(req llm.Request) any {
		if strings.Contains(req.Prompt.User, "PLAN-01") {
			return fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
		}
		return answer(req)
	}
	plan, err := d.plan()
	if err != nil || titles(plan) != "Spring tides|Neap tides|Tidal range" || len(plan.Fallbacks) != 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
}

func TestModelCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, class := range []error{llm.ErrPermanent, llm.ErrUnavailable} {
		d := newDesk(t)
		d.run.Options.Rephrase = true
		for step := range d.answers {
			d.answers[step] = func(llm.Request) any { return fmt.Errorf("model server: %w", class) }
		}
		plan, err := d.plan()
		if !errors.Is(err, class) || len(plan.SubTopics) != 0 || !strings.Contains(err.Error(), d.run.ID) {
			t.Errorf("%v: %+v, %v", class, plan, err)
		}
		if want := "start_query_rewriter end_query_rewriter_no_feedback start_search_background end_search_background " +
			"start_research_planner"; d.steps() != want {
			t.Errorf("events %q, want %q", d.steps(), want)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cause := errors.New("the run was cancelled")
	for _, step := range []string{"rephrase", "decompose", "search"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		d := newDesk(t)
		d.run.Options.Rephrase = true
		if step == "search" {
			d.search = func(string) tools.Result { cancel(cause); return tools.Result{} }
		} else {
			d.answers[step] = func(llm.Request) any { cancel(cause); return context.Canceled }
		}
		if plan, err := d.planWith(ctx); !errors.Is(err, cause) || len(plan.SubTopics) != 0 {
			t.Errorf("%s: %+v, %v", step, plan, err)
		}
	}
	lost := errors.New("lease lost")
	d := newDesk(t)
	d.p.Emit = func(context.Context, ...topicqueue.Event) error { return lost }
	if _, err := d.plan(); !errors.Is(err, lost) || len(d.asked) != 0 {
		t.Errorf("%v after %d questions", err, len(d.asked))
	}
}

// A single sub-topic has the title of the topic. The model's description is kept.
func TestOnlySubTopic(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"manual", "auto"} {
		for _, title := range []string{"Moon cheese", "", "{"} {
			d := newDesk(t)
			d.run.Options.DecomposeMode, d.run.Options.SubTopics = mode, 1
			d.answers["decompose"] = func(llm.Request) any { return topics(title, "More cheese") }
			plan, err := d.plan()
			if err != nil {
				t.Fatal(err)
			}
			if s := plan.SubTopics[0]; titles(plan) != "How do tides work?" || s.Overview != "About "+title+"." || len(s.Queries) != 1 {
				t.Errorf("%s, %q: %+v", mode, title, plan.SubTopics)
			}
		}
	}
}

// Two sections of a corpus are two starter queries, whatever words they share, because a section may be named like its
// document.
func TestPlacesOfTheSameWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run.Options.SubTopics = 2
	d.answers["decompose"] = func(llm.Request) any {
		a := topics("Tides", "Range")
		a.SubTopics[0].Queries = []string{"Tides › Tides", "range tides"}
		a.SubTopics[1].Queries = []string{"Tides › Range › Tides", "Range › Tides", "Tides › Range", "tides range"}
		return a
	}
	plan, err := d.plan()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(plan.SubTopics[1].Queries, "|"); got != "Tides › Range › Tides|Range › Tides|Tides › Range" {
		t.Errorf("queries of the second sub-topic %q", got)
	}
}

package researching_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// ranBox is a sandbox with one outcome for all programs.
type ranBox sandbox.Outcome

func (b ranBox) Run(context.Context, string) (sandbox.Outcome, error) {
	return sandbox.Outcome(b), nil
}

// PutFigure implements tools.FigureStore.
func (b *bench) PutFigure(_ context.Context, _, path string, body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[path] = string(body)
	return nil
}

// runCode gives the block the tool run_code, and a model that runs this program and notes these quotes.
func (b *bench) runCode(program string, out sandbox.Outcome, quotes ...string) {
	tool := tools.NewRunCode(ranBox(out), sandbox.DefaultLimits(time.Minute))
	b.run.Options.Tools = []string{"rag_hybrid", "run_code"}
	b.run.Options.MaxIterations = 1
	b.tools["run_code"] = func(query string) tools.Result {
		r, err := tool.Call(b.t.Context(), tools.Call{Query: query})
		if err != nil {
			b.t.Error(err)
		}
		return r
	}
	b.decide = func(int, llm.Request) any {
		compute := ask("run_code", program)
		compute.Rationale = "Mean range  at Brest."
		return act(ask("rag_hybrid", "spring tides cause"), compute)
	}
	b.note = func(req llm.Request) any {
		if !strings.Contains(req.Prompt.User, "run_code") {
			return honestNote(req)
		}
		answer := prompts.NoteAnswer{}
		for _, q := range quotes {
			answer.Claims = append(answer.Claims, prompts.NoteClaim{Source: 1, Text: "Claimed: " + q, Quote: q})
		}
		return answer
	}
}

// TestClaimsQuoteTheOutputOfPrograms: a claim can quote the output of a program, but neither the program, which says
// what its author likes, nor our own text about it.
func TestClaimsQuoteTheOutputOfPrograms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const program = "# The mean range at Brest is 9.9 metres\nprint('The mean range is', sum([6.1, 2.8]) / 2, 'm.')"
	b.runCode(program, sandbox.Outcome{
		Stdout: "The mean range is 4.45 m.\n", Stderr: "Warning: the range at Brest is doubtful\n",
		Files: []sandbox.File{{Name: "range_at_brest_by_month.svg", Body: []byte("<svg><title>The range at Brest by month</title></svg>")}},
	},
		"The mean range at Brest is 9.9 metres", "print('The mean range is', sum([6.1, 2.8]) / 2, 'm.')", // the program
		"Output of a Python program", "exit status 0", "The range at Brest by month", "the range at Brest is doubtful",
		"The mean range is 4.45 m.",
	)
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	traces := b.queue.traces()
	at := slices.IndexFunc(traces, func(tr topicqueue.ToolTrace) bool { return tr.ToolType == "run_code" })
	if at < 0 {
		t.Fatalf("no trace of the program: %+v", traces)
	}
	trace := traces[at]
	if len(trace.Claims) != 1 || trace.Claims[0].Quote != "The mean range is 4.45 m." {
		t.Errorf("claims: %+v", trace.Claims)
	}
	if trace.Query != program || !strings.Contains(b.pages[strings.TrimSuffix(strings.TrimPrefix(trace.RawAnswer, "pages/"), ".txt")], program) {
		t.Errorf("a reader does not find the program: %+v", trace)
	}
	if title := trace.Source.Title; title != "Program output: Mean range at Brest." {
		t.Errorf("the output is called %q and not by what the program is for", title)
	}
	if f := trace.Source.Figures; len(f) != 1 || f[0].Title != "The range at Brest by month" || b.pages[f[0].Path] == "" {
		t.Errorf("figures: %+v", f)
	}
	for _, req := range b.questions("note") {
		if strings.Contains(req.Prompt.User, "doubtful") {
			t.Error("a note reads what is no output")
		}
		if strings.Contains(req.Prompt.User, "run_code") && !strings.Contains(req.Prompt.User,
			"- run_code (Mean range at Brest.): # The mean range") {
			t.Errorf("the program is not called by what it is for:\n%s", req.Prompt.User)
		}
	}
}

// TestFailedProgramsAreNoSources: a failed program is not a source, whatever it printed before. The model gets the
// reason.
func TestFailedProgramsAreNoSources(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.runCode("print('The mean range is 4.45 m.'); 1 / 0", sandbox.Outcome{
		Stdout: "The mean range is 4.45 m.\n", Stderr: "Traceback\nZeroDivisionError: division by zero\n", Exit: 1,
	}, "The mean range is 4.45 m.")
	b.run.Options.MaxIterations = 2
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	for _, tr := range b.queue.traces() {
		if tr.ToolType == "run_code" {
			t.Errorf("a trace: %+v", tr)
		}
	}
	last := b.questions("decide")[1]
	want := `- run_code for "Mean range at Brest." failed: The program failed: ZeroDivisionError: division by zero.`
	if !strings.Contains(last.Prompt.User, want+"\n") {
		t.Errorf("the model does not learn why its program failed:\n%s", last.Prompt.User)
	}
}

// TestNothingFoundIsExplained: the hints of a tool without results reach the model.
func TestNothingFoundIsExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.Tools, b.run.Options.MaxIterations = []string{"rag_hybrid", "query_item"}, 2
	b.tools["query_item"] = func(string) tools.Result {
		return tools.Result{Text: "The knowledge base has nothing for \"Table 9\". " +
			"Give the item's name exactly as the documents do."}
	}
	b.decide = func(int, llm.Request) any {
		return act(ask("rag_hybrid", "spring tides cause"), ask("query_item", "Table 9"))
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	last := b.questions("decide")[1]
	want := `query_item for "Table 9" found nothing: The knowledge base has nothing for "Table 9". ` +
		"Give the item's name exactly"
	if !strings.Contains(last.Prompt.User, want) {
		t.Errorf("%s", last.Prompt.User)
	}
}

package tools_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/topicqueue"
)

// box is a sandbox with one outcome for all programs, which are executed only in the tests of package sandbox.
type box struct {
	out sandbox.Outcome
	err error
	run func(ctx context.Context, program string)
}

func (b box) Run(ctx context.Context, program string) (sandbox.Outcome, error) {
	if b.run != nil {
		b.run(ctx, program)
	}
	return b.out, b.err
}

var codeLimits = sandbox.DefaultLimits(20 * time.Second)

var drawn = []sandbox.File{{Name: "a_b.svg", Body: []byte("<svg/>")}, {Name: "c.svg", Body: []byte("x")}}

func TestRunCode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		program string
		box     box
		failed  bool
		sources int
		figures int
		text    string   // of the source
		begins  string   // of the answer
		has     []string // in the answer
	}{
		{name: "output", program: "print('4 m')", box: box{out: sandbox.Outcome{Stdout: "4 m\n"}}, sources: 1, begins: "[1] Output of a Python program (exit status 0)\n4 m\n", text: "4 m", has: []string{"The program:\nprint('4 m')"}},
		{name: "warnings", program: "p", box: box{out: sandbox.Outcome{Stdout: "4", Stderr: "careful"}}, sources: 1, text: "4", has: []string{"stderr:\ncareful"}},
		{name: "figures", program: "p", box: box{out: sandbox.Outcome{Stdout: "It grows.", Files: drawn}}, sources: 1, figures: 1, text: "It grows.", has: []string{"Figure figures/", ".svg (a_b.svg): a b", "Not kept: c.svg"}},
		{name: "figures alone", program: "p", box: box{out: sandbox.Outcome{Files: drawn}}, failed: true, begins: "The program printed nothing"},
		{name: "nothing", program: "pass", box: box{}, failed: true, begins: "The program printed nothing", has: []string{"pass"}},
		{name: "error", program: "1/0", box: box{out: sandbox.Outcome{Stdout: "5", Stderr: "Traceback\nZeroDivisionError: division by zero\n", Exit: 1}}, failed: true, begins: "The program failed: ZeroDivisionError: division by zero.\nExit status 1.", has: []string{"stdout:\n5"}},
		{name: "silent error", program: "p", box: box{out: sandbox.Outcome{Exit: 7}}, failed: true, begins: "The program failed: it ended with exit status 7."},
		{name: "time", program: "p", box: box{out: sandbox.Outcome{Exit: -1, Ended: sandbox.EndedTime}}, failed: true, begins: "The program failed: it ran longer than 20s"},
		{name: "memory", program: "p", box: box{out: sandbox.Outcome{Exit: 1, Ended: sandbox.EndedMemory}}, failed: true, begins: "The program failed: it needed more memory"},
		{name: "output limit", program: "p", box: box{out: sandbox.Outcome{Exit: -1, Ended: sandbox.EndedOutput}}, failed: true, begins: "The program failed: it printed more than 131072 bytes"},
		{name: "no program", program: " \n", failed: true, begins: "run_code needs a Python program"},
		{name: "too long", program: strings.Repeat("#", sandbox.MaxProgram+1), failed: true, begins: "The program has 32769 bytes"},
		{name: "the sandbox breaks", program: "p", box: box{err: errors.New("no more memory")}, failed: true, begins: "run_code could not run the program: no more memory."},
		{name: "not text", program: "p", box: box{out: sandbox.Outcome{Stdout: "a\xff\x00b"}}, sources: 1, text: "a\ufffdb", has: []string{"a\ufffdb"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			result, err := tools.NewRunCode(tc.box, codeLimits).Call(t.Context(), tools.Call{Query: tc.program})
			if err != nil || result.Failed != tc.failed || len(result.Sources) != tc.sources || len(result.Figures) != tc.figures || !strings.HasPrefix(result.Text, tc.begins) {
				t.Fatalf("%+v, %v", result, err)
			}
			for _, want := range tc.has {
				if !strings.Contains(result.Text, want) {
					t.Errorf("%q is missing in %q", want, result.Text)
				}
			}
			for _, s := range result.Sources {
				if s.Text != tc.text || result.Text[s.Offset:s.Offset+len(s.Text)] != s.Text || len(s.Figures) != tc.figures {
					t.Errorf("the source is %q at %d, figures %v", s.Text, s.Offset, s.Figures)
				}
				if s.Kind != topicqueue.SourceCode || s.Hash != topicqueue.TextHash(s.Text) || s.ID != topicqueue.SourceID(s) || s.Document != "pages/"+topicqueue.TextHash(result.Text)+".txt" {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestRunCodeTakesFencesOff(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"```python\nprint(1)\n```": "print(1)\n", "```\nif x:\n    y\n```": "if x:\n    y\n", "print('```')": "print('```')", "```print(1)```": "```print(1)```", "    indented": "    indented",
	} {
		var got string
		tool := tools.NewRunCode(box{run: func(_ context.Context, p string) { got = p }}, codeLimits)
		if _, err := tool.Call(t.Context(), tools.Call{Query: query}); err != nil || got != want {
			t.Errorf("%q runs %q, want %q (%v)", query, got, want, err)
		}
	}
	if d := tools.NewRunCode(box{}, codeLimits).Description(); len(d) > 1200 || !strings.Contains(d, "Query:") || strings.Contains(d, "{{") {
		t.Errorf("description: %q", d)
	}
}

func TestRunCodeIsCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("the desk closes")
	ctx, cancel := context.WithCancelCause(t.Context())
	tool := tools.NewRunCode(box{run: func(context.Context, string) { cancel(why) }}, codeLimits)
	if _, err := tool.Call(ctx, tools.Call{Query: "p"}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// figureBundle is a bundle that takes figures.
type figureBundle struct {
	bundle
	mu      sync.Mutex
	figures map[string]string
}

func (b *figureBundle) PutFigure(_ context.Context, runID, path string, body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.figures[runID+"/"+path] = string(body)
	return nil
}

func TestRunnerStoresFigures(t *testing.T) {
	t.Parallel()
	pages := &figureBundle{figures: map[string]string{}}
	plot := box{out: sandbox.Outcome{Stdout: "1", Files: drawn}}
	r := &tools.Runner{Tools: tools.Set{tools.NewRunCode(plot, codeLimits)}, Pages: pages}
	answer, err := r.Call(t.Context(), "run_1", "run_code", tools.Call{Query: "p"})
	if err != nil || len(answer.Figures) != 1 || answer.Sources[0].Figures[0] != answer.Figures[0].Figure || answer.Sources[0].Document != answer.Raw {
		t.Fatalf("%+v, %v", answer, err)
	}
	if !strings.HasPrefix(pages.figures["run_1/"+answer.Figures[0].Path], "<svg ") {
		t.Errorf("stored: %v", pages.figures)
	}
	r.Pages = &bundle{}
	if _, err := r.Call(t.Context(), "run_1", "run_code", tools.Call{Query: "p"}); err == nil {
		t.Error("figures are lost without a word")
	}
}

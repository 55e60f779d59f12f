package researching_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// printing is a sandbox with fixed outcomes by program.
type printing map[string]sandbox.Outcome

func (p printing) Run(_ context.Context, program string) (sandbox.Outcome, error) {
	return p[program], nil
}

// TestProgramsOfTheLastNight: results computed from a number that its source no longer states are withdrawn, and the
// model may recompute them. Other results are kept.
func TestProgramsOfTheLastNight(t *testing.T) {
	t.Parallel()
	const twice, days = "Twice the 7 metres are 14 metres.", "As hours, 24 days are 576."
	const again = "Twice the 8 metres are 16 metres."
	const higher = "value 7 metres -> 8 metres: Spring tides at the harbour rise by 8 metres."
	metres := [2]string{"7 metres", "8 metres"}
	for name, tt := range map[string]struct {
		print string // by the program of the first night
		edit  [2]string
		model bool
		want  []string // claims of programs on the second night
		lines []string // of what has changed
		calls int
		looks bool // the model searches before it computes
	}{
		"the number is another one": {print: twice + "\n" + days, edit: metres, model: true,
			want: []string{again}, calls: 3, // reading what has moved, deciding, reading the output
			lines: []string{higher}},
		"tonight's number is searched first": {print: twice + "\n" + days, edit: metres, model: true, looks: true,
			want: []string{again}, calls: 5, lines: []string{higher}},
		"without a model": {print: twice + "\n" + days, edit: metres, want: nil,
			lines: []string{higher, "withdrawn: " + twice + " " + days}},
		"another number": {print: twice + "\n" + days, edit: [2]string{"1911", "1913"}, want: []string{twice, days},
			lines: []string{"date 1911 -> 1913: The gauge of the harbour was built in 1913."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, map[string]string{"a": tidesA, "b": tidesB}, true)
			box := printing{"print(2*7, 24*24)": {Stdout: tt.print}, "print(2*8)": {Stdout: again}}
			run := tools.NewRunCode(box, sandbox.DefaultLimits(time.Minute))
			w.bench.tools["run_code"] = func(program string) tools.Result {
				r, err := run.Call(t.Context(), tools.Call{Query: program})
				if err != nil {
					t.Error(err)
				}
				return r
			}
			w.run.Options.Tools = append(w.run.Options.Tools, "run_code")
			first, decide := true, w.decide
			w.decide = func(k int, req llm.Request) any {
				a := decide(k, req).(prompts.DecideAnswer)
				if first && k > 1 {
					a.Actions = append(a.Actions, ask("run_code", "print(2*7, 24*24)"))
				} else if !first {
					named := strings.Contains(req.Prompt.User, "(7)") && strings.Contains(req.Prompt.User, `"print(2*7, 24*24)"`)
					if k == 2 && !named {
						t.Errorf("the question does not name number and program:\n%s", req.Prompt.User)
					}
					if a.Actions = []prompts.Action{ask("run_code", "print(2*8)")}; tt.looks && k == 2 {
						a.Actions = []prompts.Action{ask("web_search", "height of spring tides")}
					}
				}
				return a
			}
			m := w.first()
			first = false
			if !tt.model {
				w.r.Model = nil
			}
			address := "https://site.example/a"
			w.pages[address] = strings.Replace(w.pages[address], tt.edit[0], tt.edit[1], 1)
			changes, calls := w.again(m)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, w.computed()); diff != "" || calls != tt.calls {
				t.Errorf("%d calls, claims: %s", calls, diff)
			}
			if diff := cmp.Diff(tt.lines, what(changes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// computed returns the quotes of program outputs, sorted.
func (w *web) computed() (quotes []string) {
	for _, trace := range w.queue.traces() {
		for _, c := range trace.Claims {
			if trace.Source.Kind == topicqueue.SourceCode {
				quotes = append(quotes, c.Quote)
			}
		}
	}
	slices.Sort(quotes)
	return quotes
}

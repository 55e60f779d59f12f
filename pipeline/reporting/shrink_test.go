package reporting_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
)

// claimShown matches a claim of the outline's question, and a citation of a written section.
var claimShown = regexp.MustCompile(`(?m)^\d+: |\[CIT-`)

// TestSmallWindow: a question that does not fit the model's window is asked with half the evidence, then with a
// quarter, then an eighth, before the step takes its local form.
func TestSmallWindow(t *testing.T) {
	t.Parallel()
	tooLong := fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
	for _, step := range []string{"outline", "author"} {
		for _, refusals := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("%s refused %d times", step, refusals), func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				var shown []int // claims of each question
				positions := map[llm.Position]bool{}
				model := modelFunc(func(req llm.Request) (string, error) {
					sections := strings.Contains(req.Prompt.User, ": section ")
					if step == "author" && req.Prompt.Name == step && sections && strings.Contains(req.Prompt.User, ": the opening") {
						return "", tooLong // all in one call
					}
					if req.Prompt.Name != step || sections {
						return writer(req)
					}
					mu.Lock()
					defer mu.Unlock()
					if positions[req.Position] {
						t.Errorf("position %+v is used twice", req.Position)
					}
					positions[req.Position] = true
					if shown = append(shown, len(claimShown.FindAllString(req.Prompt.User, -1))); len(shown) <= refusals {
						return "", tooLong
					}
					return writer(req)
				})
				got, err := (&reporting.Reporter{Model: model}).Report(t.Context(), evidence(t, ""))
				if err != nil {
					t.Fatal(err)
				}
				if want := min(refusals+1, 4); len(shown) != want {
					t.Errorf("%d questions, want %d", len(shown), want)
				}
				if fell := slices.Contains(got.Fallbacks, strings.Replace(step, "author", "conclusion",
					1)); fell != (refusals == 4) {
					t.Errorf("fallbacks %q", got.Fallbacks)
				}
				for i := 1; i < len(shown); i++ {
					if shown[i] > shown[i-1] || i == 1 && shown[i] == shown[i-1] {
						t.Errorf("claims shown: %v", shown)
					}
				}
			})
		}
	}
}

package reporting_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
)

var partNumber = regexp.MustCompile(`(?m)^Part (\d+): `)

// cutting is a model whose first answer as author is cut within its third part. lost: the first answer has no third
// part, and is whole.
type cutting struct {
	mu    sync.Mutex
	lost  bool
	asked [][]string // numbers of the parts of each question
}

func (m *cutting) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	text, err := writer(req)
	if req.Prompt.Name != "author" {
		return llm.Response{Text: text}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var parts []string
	for _, p := range partNumber.FindAllStringSubmatch(req.Prompt.User, -1) {
		parts = append(parts, p[1])
	}
	m.asked = append(m.asked, parts)
	if len(m.asked) > 1 {
		return llm.Response{Text: text}, nil
	}
	before, third, _ := strings.Cut(text, "## 3\n")
	if m.lost {
		_, after, _ := strings.Cut(third, "## 4\n")
		return llm.Response{Text: before + "## 4\n" + after}, nil
	}
	return llm.Response{Text: before + "## 3\n\nThe drive's cache can lose commits [CIT-3-01]. A standby", Truncated: true}, nil
}

// An answer that is cut keeps its complete parts, and the rest is asked for in one call. A part that a whole answer
// lacks is asked for alone.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lost bool
		want [][]string
	}{
		"cut":  {false, [][]string{{"1", "2", "3", "4", "5"}, {"3", "4", "5"}}},
		"lost": {true, [][]string{{"1", "2", "3", "4", "5"}, {"3"}}},
	} {
		m := &cutting{lost: tc.lost}
		got, err := (&reporting.Reporter{Model: m, Now: now}).Report(t.Context(), evidence(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(m.asked, tc.want, slices.Equal) {
			t.Errorf("%s: asked for parts %v, want %v", name, m.asked, tc.want)
		}
		whole, err := (&reporting.Reporter{Model: modelFunc(writer), Now: now}).Report(t.Context(), evidence(t, ""))
		if err != nil || got.Markdown != whole.Markdown || len(got.Fallbacks) > 0 {
			t.Errorf("%s: fallbacks %q, %v\n%s", name, got.Fallbacks, err, got.Markdown)
		}
	}
}

package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
)

// TestSmallWindow works a deep topic with a model of 8,192 tokens whose tokenizer is denser than is estimated, over
// documents whose sections are longer than that: the run completes, and no prompt that it is sent is too long.
func TestSmallWindow(t *testing.T) {
	t.Parallel()
	const window, bytesPerToken = 8192, 3.2
	f := newFleet(t, 0, fmt.Sprintf("LLM_CONTEXT_TOKENS=%d", window))
	f.model.Claims = 20
	f.stub.BytesPerToken = bytesPerToken
	var mu sync.Mutex
	longest, tooLong := 0.0, 0
	names := map[string]int{}
	f.stub.Intercept = func(w http.ResponseWriter, q llmtest.Question) bool {
		tokens := float64(len(q.System)+len(q.User)) / bytesPerToken
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, tokens)
		name, _, _ := strings.Cut(q.Name, "_")
		names[name]++
		if tokens+float64(q.MaxTokens) <= window {
			return false
		}
		tooLong++
		t.Logf("%s: a prompt of %.0f tokens and an answer of %d", q.Name, tokens, q.MaxTokens)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens.","code":"context_length_exceeded"}}`, window)
		return true
	}
	longCorpus(t, filepath.Join(f.dir, "docs"))
	f.output("kb", "add", "--name", "docs", "docs")
	f.enqueue(1, "--preset", "deep")
	worker := f.worker(8)
	states := f.wait(1)
	f.stop(worker)
	f.checkReports(1, states)
	mu.Lock()
	defer mu.Unlock()
	if tooLong > 0 {
		t.Errorf("%d questions did not fit the window", tooLong)
	}
	t.Logf("longest prompt: %.0f of %d tokens; questions %v", longest, window, names)
}

// longCorpus writes documents with sections of about 20,000 bytes.
func longCorpus(t *testing.T, dir string) {
	t.Helper()
	for i, part := range benchtest.Subjects {
		var doc strings.Builder
		fmt.Fprintf(&doc, "# The %s of a harbour\n", part)
		for j, part2 := range benchtest.Subjects[:4] {
			fmt.Fprintf(&doc, "\n## The %s and the %s\n\n", part, part2)
			for k := range 200 {
				fmt.Fprintf(&doc, "The harbour inspects the %s and the %s every %d days under rule %d.%d.%d. ", part, part2, 10+k, i+1, j+1, k+1)
			}
			doc.WriteString("\n")
		}
		if err := writeFile(filepath.Join(dir, part+".md"), doc.String()); err != nil {
			t.Fatal(err)
		}
	}
}

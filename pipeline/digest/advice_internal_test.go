package digest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdviceKnowsReasons fails when a reason was reworded and its advice was not: the two are matched by words.
func TestAdviceKnowsReasons(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, dir := range []string{"../../jobs", "../../topicqueue", "../../cmd/nightdesk/wiring", "../llm"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			product := strings.HasSuffix(path, ".lua") || strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			if err != nil || !product {
				return err
			}
			body, err := os.ReadFile(path)
			code.Write(body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range advices {
		if !strings.Contains(code.String(), a.words) {
			t.Errorf("no reason contains %q, so its advice never applies", a.words)
		}
	}
}

package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
)

func island(t *testing.T) *knowledge.Base {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"keeping.md": "# Keeping lighthouses\n\nA lighthouse guides ships.\n\n## Duties\n\nTwo people share them.\n\n### Lamp\n\nThe lamp is trimmed at dusk.\n\n### Log\n\nThe log names every ship.\n\n## Fog\n\nIn fog a horn sounds.\n",
		"boats.md":   "# Boats\n\nBoats bring oil.\n\n## Duties\n\nThe boatman rows to the lighthouse.\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base, err := knowledge.Create(filepath.Join(t.TempDir(), "island.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	if _, err := base.Ingest(t.Context(), []string{dir}, func(int, int, string) {}); err != nil {
		t.Fatal(err)
	}
	return base
}

// A place is read with what lies below it, and nothing else.
func TestItemPlace(t *testing.T) {
	t.Parallel()
	base := island(t)
	tests := []struct{ place, want string }{
		{"Keeping lighthouses › Duties", "Two people share them.|The lamp is trimmed at dusk.|The log names every ship."},
		{"keeping lighthouses › duties › LAMP", "The lamp is trimmed at dusk."},
		{"Boats › Duties", "The boatman rows to the lighthouse."},
		{"Boats › Boats", "Boats bring oil."},
		{"Boats › Lamp", ""},
	}
	for _, tt := range tests {
		found, err := base.Item(t.Context(), tt.place, 5)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, p := range found {
			texts = append(texts, p.Text)
		}
		if got := strings.Join(texts, "|"); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.place, got, tt.want)
		}
	}
}

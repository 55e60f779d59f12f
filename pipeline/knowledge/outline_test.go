package knowledge_test

import (
	"errors"
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

func TestOutline(t *testing.T) {
	t.Parallel()
	base := island(t)
	title, parts, err := base.Outline(t.Context(), "keeping.md")
	if err != nil || title != "Keeping lighthouses" {
		t.Fatalf("%q, %v", title, err)
	}
	var whole strings.Builder
	var got []string
	for _, p := range parts {
		whole.WriteString(p.Text)
		if text := strings.TrimSpace(p.Text); text != "" {
			got = append(got, strings.Join(p.Section, "/")+": "+text)
		}
	}
	want := []string{": A lighthouse guides ships.", "Duties: Two people share them.", "Duties/Lamp: The lamp is trimmed at dusk.",
		"Duties/Log: The log names every ship.", "Fog: In fog a horn sounds."}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("parts %q, want %q", got, want)
	}
	if text, err := base.Text(t.Context(), "keeping.md"); err != nil || text != whole.String() {
		t.Errorf("the parts are not the document: %v", err)
	}
	if _, _, err := base.Outline(t.Context(), "none.md"); !errors.Is(err, knowledge.ErrNotFound) {
		t.Errorf("no such document: %v", err)
	}
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

func TestRarity(t *testing.T) {
	t.Parallel()
	base := island(t)
	rarity := func(word string) (float64, bool) {
		r, known, err := base.Rarity(t.Context(), word)
		if err != nil {
			t.Fatal(err)
		}
		return r, known
	}
	everywhere, _ := rarity("lighthouses") // in a title, and elsewhere in the text
	once, known := rarity("horn")
	if !known || !(everywhere < once) || everywhere < 0 || once > 1 {
		t.Errorf("everywhere %.2f, once %.2f", everywhere, once)
	}
	for _, word := range []string{"cheese", "", `" OR *`} {
		if r, known := rarity(word); known || r != 1 {
			t.Errorf("%q: %.2f, %v", word, r, known)
		}
	}
}

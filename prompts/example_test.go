package prompts_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/prompts"
)

// marker matches a marker in the text of a template.
var marker = regexp.MustCompile(`\[((?:CIT|PLAN)-[^\]{}]*)\]`)

// exampleBlock is the block in the ids of examples. No run has so many blocks: queue.max_length is 200 at most.
const exampleBlock = 999

// TestExamplesCiteNothing: models copy the markers of examples, so these must be valid ids that no run has.
func TestExamplesCiteNothing(t *testing.T) {
	t.Parallel()
	found := 0
	templates := os.DirFS("templates")
	err := fs.WalkDir(templates, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates, path)
		for _, m := range marker.FindAllSubmatch(text, -1) {
			found++
			if id, ok := citation.ParseID(string(m[1])); !ok || id.Block != exampleBlock {
				t.Errorf("%s: %s", path, m[0])
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d markers, %v", found, err)
	}
}

// TestNoMarkerToCopy: our own text in a section's prompt has no marker that a model could copy but those of its claims.
func TestNoMarkerToCopy(t *testing.T) {
	t.Parallel()
	for lang, d := range map[string]prompts.AuthorData{"en": authorEN, "zh": authorZH} {
		d.Parts = slices.Clone(d.Parts)
		for i := range d.Parts {
			d.Parts[i].Claims, d.Parts[i].Subsections = nil, nil
		}
		if m := marker.FindString(skeleton(t, prompts.Author(lang, d).User)); m != "" {
			t.Errorf("%s: %s", lang, m)
		}
	}
}

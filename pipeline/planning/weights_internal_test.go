package planning

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func testWeights(topic string, of map[string]float64) weights {
	w := weights{of: of, form: map[string]string{}, joined: map[string]string{}, pairs: neighbours(topic)}
	w.order = slices.Sorted(maps.Keys(of))
	for word := range strings.FieldsSeq(topic) {
		for term := range terms(word) {
			w.form[term] = bare(word)
		}
	}
	return w
}

// A heading is worth more the closer its words are to the topic's, the more of them stand together, and the less else
// there is.
func TestHeaded(t *testing.T) {
	t.Parallel()
	w := testWeights("harbour lights", map[string]float64{"harbour": 0.5, "light": 0.5})
	order := []string{"Harbour lights", "Harbour lights and buoys of the coast", "The lights of a harbour, a port and a quay", "Harbour dues", "Tides"}
	for i := 1; i < len(order); i++ {
		if a, b := w.headed(order[i-1]), w.headed(order[i]); a <= b {
			t.Errorf("%q is worth %.2f, %q %.2f", order[i-1], a, order[i], b)
		}
	}
	if w.headed("Harbour lights") != 1 || w.headed("Tides") != 0 {
		t.Errorf("all %.2f, nothing %.2f", w.headed("Harbour lights"), w.headed("Tides"))
	}
	w = testWeights("decorators", map[string]float64{"decor": 1})
	if a, b := w.headed("Decorator"), w.headed("Decorate"); a <= b {
		t.Errorf("an inflection is worth %.2f, a relative %.2f", a, b)
	}
	if a, b := w.covered("The decorators are old."), w.covered("They decorate it."); a <= b {
		t.Errorf("in a text: an inflection is worth %.2f, a relative %.2f", a, b)
	}
}

func TestTelling(t *testing.T) {
	t.Parallel()
	w := testWeights("How do harbour lights work?", map[string]float64{"harbour": 0.55, "light": 0.4, "work": 0.05})
	if got := w.telling("How do harbour lights work?"); !slices.Equal(got, []string{"harbour", "lights"}) {
		t.Errorf("telling words %q", got)
	}
}

// What documents introduce as a short form counts as the words that it stands for.
func TestShorten(t *testing.T) {
	t.Parallel()
	w := testWeights("mean low water", map[string]float64{"mean": 0.3, "low": 0.2, "water": 0.5})
	d := &document{title: "Levels"}
	d.root = &node{document: d, text: "Charts give depths below Mean Low Water (MLW). The Royal Navy (RN) does not."}
	if got := w.shorten([]*document{d}); !slices.Equal(got, []string{"MLW"}) {
		t.Fatalf("short forms %q", got)
	}
	if got := w.covered("Depths below MLW are safe."); got != 0.5 {
		t.Errorf("a text with the short form covers %.2f", got)
	}
	if got := w.shorten([]*document{d}); len(got) != 0 {
		t.Errorf("found again: %q", got)
	}
}

func TestParagraphLines(t *testing.T) {
	t.Parallel()
	lines, all := paragraphLines("reach (miles)\n\nHow far a light is seen.\n\n```\ncode\n\nmore code\n```\n\n| a | b |\n\n- item\n\ncolour")
	if lines != 2 || all != 4 {
		t.Errorf("%d of %d paragraphs are lines, want 2 of 4", lines, all)
	}
}

func FuzzWeights(f *testing.F) {
	f.Add("How do harbour lights work?", "Harbour lights — all (HL)")
	f.Add("back up", "Backup/restore _ - …")
	f.Fuzz(func(t *testing.T, topic, heading string) {
		of := map[string]float64{}
		for term := range terms(topic) {
			of[term] = 1
		}
		for term := range of {
			of[term] /= float64(len(of))
		}
		w := testWeights(topic, of)
		for _, got := range []float64{w.headed(heading), w.covered(heading), w.share(heading)} {
			if got < 0 || got > 1.0001 {
				t.Fatalf("%q in %q is worth %v", topic, heading, got)
			}
		}
		d := newDocument(w, "k", heading, nil)
		if d.score < 0 || d.root.density() < 0 {
			t.Fatalf("document %q: %v", heading, d.score)
		}
	})
}

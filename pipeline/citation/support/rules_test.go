package support_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nightdesk/pipeline/citation/support"
)

// TestRules: rules that judge any sentence of the sets otherwise have another number, so that bundles which were checked by earlier ones are
// not taken for forged.
func TestRules(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range dirs {
		dirs[i] = filepath.Base(filepath.Dir(path))
	}
	slices.Sort(dirs)
	sum := sha256.New()
	for _, dir := range slices.Compact(dirs) {
		sources, cases := plant(t, dir)
		corpus := support.New(sources)
		for i, c := range cases {
			if i%3 > 0 { // a third of them tell it
				continue
			}
			v := corpus.Check(c.sentence, c.cites())
			fmt.Fprintln(sum, dir, c.sentence, v.Result, v.Reason, v.Source, v.Start, v.End)
		}
	}
	const golden = "testdata/rules.golden"
	got := fmt.Sprintf("%d %x\n", support.Rules, sum.Sum(nil))
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the rules judge otherwise than those with the number in %s, or the sets are others: raise support.Rules, when rules were changed, and write there\n%s", golden, got)
	}
}

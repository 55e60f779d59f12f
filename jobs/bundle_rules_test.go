package jobs_test

import (
	"os"
	"testing"

	"nightdesk/jobs/bundle"
	"nightdesk/storage"
)

// TestBundleOfEarlierRules: a bundle checked by the first rules is readable and not reported as forged. Sentences with
// another verdict are counted.
func TestBundleOfEarlierRules(t *testing.T) {
	t.Parallel()
	const id = "research_20261122_153205_fro4lwpnkw"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/rules1")); err != nil {
		t.Fatal(err)
	}
	check, err := bundle.Verify(t.Context(), storage.NewDir(dir), id)
	if err != nil || len(check.Problems) > 0 || check.Sentences != 12 || check.Otherwise != 12 || check.Citations != 1 {
		t.Errorf("%+v, %v", check, err)
	}
}

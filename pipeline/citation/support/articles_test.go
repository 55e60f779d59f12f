package support_test

import "testing"

// TestArticles judges the sentences about longer texts, as papers, release notes, reports and encyclopedias look.
func TestArticles(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"articles", "articles2", "articles3"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			sources, cases := plant(t, dir)
			weigh(t, sources, cases)
		})
	}
}

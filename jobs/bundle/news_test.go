package bundle_test

import (
	"slices"
	"testing"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// TestNews: the page of an updated report marks its new sentences and rows.
func TestNews(t *testing.T) {
	t.Parallel()
	store := storage.NewDir(t.TempDir())
	const before = "# Port\n\nIt has 40 cranes on its piers [[CIT-1-01](#ref-cit-1-01)]. It lies in the bay of Gern.\n\n" +
		"## References\n"
	if err := store.Put(t.Context(), storage.ReportKey("research_1"), []byte(before)); err != nil {
		t.Fatal(err)
	}
	rep := reporting.Report{Tree: report.Read("# Port\n\nIt has 44 cranes on its piers [[CIT-1-02](#ref-cit-1-02)]. " +
		"It lies in the bay of Gern. Its lighthouse is painted red and white.\n\n## References\n")}
	in := reporting.Input{Run: topicqueue.Run{ID: "research_2"}}
	for of, want := range map[string][]string{"": nil, "research_gone": nil,
		"research_1": {"It has 44 cranes on its piers.", "Its lighthouse is painted red and white."}} {
		if in.Changes = nil; of != "" {
			in.Changes = &recurring.Changes{RunID: of}
		}
		var got []string
		_, err := bundle.ReportToFormat(t.Context(), store, in, rep)
		report.EachStatement(rep.Tree.Sections[0].Blocks, func(s report.Statement) {
			if s.New {
				got = append(got, s.Text())
			}
			s.New = false
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("since %q: %q, want %q (%v)", of, got, want, err)
		}
	}
}

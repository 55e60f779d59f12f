package topicqueue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue"
)

func TestDuplicate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"Garbage collection in Go", "garbage collection in go.", true},
		{"Garbage collection in Go", "Go garbage collection", true},
		{"Garbage collection in Go", "An overview of garbage collection in Go", true},
		{"Risks of lithium batteries", "Risk of lithium battery", true},
		{"Capital rules for EU banks in 2024", "Capital rules for UK banks in 2024", false},
		{"Capital rules for EU banks in 2024", "Capital rules for EU banks in 2025", false},
		{"EU banks 2024", "UK banks 2025", false},
		{"Supervised learning for demand forecasts", "Unsupervised learning for demand forecasts", false},
		{"how inventory and pricing and staffing and routing and loading of supervised trucks work in large regional warehouse hubs today",
			"how inventory and pricing and staffing and routing and loading of unsupervised trucks work in large regional warehouse hubs today", false},
		{"Python 3.11 startup time", "Python 3.12 startup time", false},
		{"Exports of Germany to the largest neighbouring economies of Europe", "Exports of Norway to the largest neighbouring economies of Europe", false},
		{"Ocean currents", "Volcanic ash", false},
		{"", "", false},
		{"  ", "Anything", false},
		{"Overview", "Introduction", false},
		{"量子计算的发展历史", "量子计算的发展历史。", true},
		{"2024年欧洲银行监管", "2025年欧洲银行监管", false},
		{"量子计算", "古典音乐", false},
	} {
		if got := topicqueue.Duplicate(tc.a, tc.b); got != tc.want {
			t.Errorf("Duplicate(%q, %q) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
		if got := topicqueue.Duplicate(tc.b, tc.a); got != tc.want {
			t.Errorf("Duplicate(%q, %q) = %v, want %v", tc.b, tc.a, got, tc.want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	blocks := []topicqueue.BlockTitle{{ID: "block_1", Title: "Solar panels"}, {ID: "block_2", Title: "Heat pumps"}}
	proposals := []topicqueue.SubTopic{
		{Title: "heat pump"}, {Title: " "}, {Title: "Home  batteries"}, {Title: "Home batteries"}, {Title: "Insulation"},
	}
	want := []topicqueue.Admission{
		{Title: "heat pump", Answer: topicqueue.AdmissionDuplicate, BlockID: "block_2"},
		{Title: "", Answer: topicqueue.AdmissionEmpty},
		{Title: "Home batteries", Answer: topicqueue.AdmissionAdded, BlockID: "block_3"},
		{Title: "Home batteries", Answer: topicqueue.AdmissionDuplicate, BlockID: "block_3"},
		{Title: "Insulation", Answer: topicqueue.AdmissionFull},
	}
	if diff := cmp.Diff(want, topicqueue.Judge(blocks, proposals, 3)); diff != "" {
		t.Error(diff)
	}
}

func TestRunID(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 3, 1, 23, 5, 9, 0, time.FixedZone("", 3600))
	id := topicqueue.RunID("night", "What is dark matter?", "", created)
	if want := "research_20260301_220509_"; len(id) != len(want)+10 || id[:len(want)] != want {
		t.Errorf("RunID = %q, want %s and ten characters", id, want)
	}
	if again := topicqueue.RunID("night", "what is  dark matter", "", created); again != id {
		t.Errorf("the same topic spelled otherwise has another id: %q, %q", id, again)
	}
	for _, other := range []string{
		topicqueue.RunID("day", "What is dark matter?", "", created),
		topicqueue.RunID("night", "What is dark energy?", "", created),
		topicqueue.RunID("night", "What is dark matter?", "2026-03-02T01:00:00Z", created),
	} {
		if other == id {
			t.Errorf("another batch, topic or due time has the same id %q", id)
		}
	}
}

func TestRunIDsDoNotCollide(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool, 100_000)
	for i := range 100_000 {
		id := topicqueue.RunID("night", topicqueue.BlockID(i+1), "", time.Unix(0, 0))
		if seen[id] {
			t.Fatalf("collision at topic %d: %s", i, id)
		}
		seen[id] = true
	}
}

func TestBlockNumber(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{"block_1": 1, "block_12": 12, "block_0": 0, "block_01": 0, "block_-1": 0, "block_": 0, "x": 0, "block_1x": 0} {
		if got := topicqueue.BlockNumber(id); got != want {
			t.Errorf("BlockNumber(%q) = %d, want %d", id, got, want)
		}
	}
}

func FuzzDuplicate(f *testing.F) {
	f.Add("EU banks 2024", "UK banks 2025")
	f.Add("量子计算 Go 1.22", "Ω-3")
	f.Fuzz(func(t *testing.T, a, b string) {
		if topicqueue.Duplicate(a, b) != topicqueue.Duplicate(b, a) {
			t.Errorf("Duplicate(%q, %q) is not symmetric", a, b)
		}
		if topicqueue.TopicKey(a) != "" && !topicqueue.Duplicate(a, a) {
			t.Errorf("%q is no duplicate of itself", a)
		}
	})
}

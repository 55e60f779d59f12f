package purge_test

import (
	"fmt"
	"testing"
	"time"

	"nightdesk/jobs/purge"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
)

// TestPurgeAttached: attached documents are deleted with the data of the last run that uses them, whatever is kept of
// knowledge bases. Unused documents are kept for a while, because their run may be being enqueued.
func TestPurgeAttached(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *attic) {
		version := func(n int) string { return fmt.Sprintf("%016x-%032x", n, n) }
		for n := 1; n <= 3; n++ {
			a.put(knowledge.SnapshotKey(knowledge.Attached, version(n)))
		}
		with := func(n int, batch string, day int, topic string, state topicqueue.RunState) string {
			a.options = func(o *topicqueue.Options) { o.Attached = version(n) }
			defer func() { a.options = nil }()
			return a.run(batch, day, topic, state)
		}
		with(1, "old", 1, "one", topicqueue.RunCompleted)
		a.expired(with(1, "new", 30, "two", topicqueue.RunCompleted))
		with(2, "alone", 1, "three", topicqueue.RunCompleted)
		gone := "attached " + version(2)
		if got := only(a.purge(purge.Order{Days: 10, Dry: true})); fmt.Sprint(got) != fmt.Sprint([]string{gone}) {
			t.Errorf("dry: %q", got)
		}
		same(t, "with the last run", only(a.purge(purge.Order{Days: 10})), gone)
		same(t, "nothing to do", only(a.purge(purge.Order{Days: 10})))
		later := purge.Order{Now: time.Now().Add(9 * 24 * time.Hour)}
		same(t, "no run ever had it", only(a.purge(later)), "attached "+version(3))
		later.Days = 1
		same(t, "with the report", only(a.purge(later)), "attached "+version(1))
		same(t, "all of it", a.keys("knowledge/"))
	})
}

// only returns the part of a purge that concerns attached documents.
func only(gone []string) (out []string) {
	for _, line := range gone {
		if len(line) > 9 && line[:9] == "attached " {
			out = append(out, line)
		}
	}
	return out
}

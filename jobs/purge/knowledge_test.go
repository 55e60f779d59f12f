package purge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs/purge"
	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

// TestPurgeKnowledge: versions of knowledge bases are deleted by age and number, except the newest and those that a
// listed run may need: a waiting run, or an ended run that can be retried.
func TestPurgeKnowledge(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	eachStore(t, func(t *testing.T, a *attic) {
		version := func(n int) string { return fmt.Sprintf("%016x-%032x", n, n) }
		name := func(base string, n int) string { return "knowledge " + base + "/" + version(n) }
		clock := func() time.Time { // of the store, which tells the age of what it has
			stat, err := a.stat(knowledge.SnapshotKey("law", version(10)))
			if err != nil {
				t.Fatal(err)
			}
			return stat.Stored
		}
		var last time.Time
		for n := 1; n <= 10; n++ {
			a.put(knowledge.SnapshotKey("law", version(n)))
			for { // the newest is told from the others by its time, which some stores have in seconds
				stat, err := a.stat(knowledge.SnapshotKey("law", version(n)))
				if err != nil {
					t.Fatal(err)
				}
				if stat.Stored.After(last) {
					last = stat.Stored
					break
				}
				a.put(knowledge.SnapshotKey("law", version(n)))
			}
		}
		a.put(knowledge.SnapshotKey("physics", version(1)), "knowledge/law/notes.txt")
		uses := func(batch string, n int, topic string, state topicqueue.RunState) string {
			a.options = func(o *topicqueue.Options) { o.KnowledgeBase, o.KnowledgeVersion = "law", version(n) }
			defer func() { a.options = nil }()
			return a.run(batch, 1, topic, state)
		}
		uses("waiting", 2, "one", topicqueue.RunQueued)
		uses("ended", 3, "two", topicqueue.RunCompleted)
		kept := uses("expired", 4, "three", topicqueue.RunCompleted)
		a.expired(kept)
		lost := uses("lost", 5, "four", topicqueue.RunCompleted) // its data is gone
		a.expired(lost)
		if err := a.store.Delete(t.Context(), storage.ManifestKey(lost)); err != nil {
			t.Fatal(err)
		}

		soon, later := clock().Add(time.Hour), clock().Add(40*24*time.Hour)
		for _, tt := range []struct {
			name string
			p    purge.Order
			want []string
		}{
			{"no bound", purge.Order{Now: later}, nil},
			{"an enqueueing may be under way", purge.Order{Now: soon, Count: 4}, nil},
			{"number", purge.Order{Now: later, Dry: true, Count: 4}, []string{name("law", 1), name("law", 5), name("law", 6)}},
			{"young", purge.Order{Now: later, Dry: true, Days: 50}, nil},
			{"done", purge.Order{Now: later, Count: 4}, []string{name("law", 1), name("law", 5), name("law", 6)}},
			{"again", purge.Order{Now: later, Count: 4}, nil},
		} {
			if diff := cmp.Diff(tt.want, knowledgeOf(a.purge(tt.p))); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		// Runs that go in the same purge protect nothing, but the waiting run does.
		want := []string{name("law", 3), name("law", 4), name("law", 7), name("law", 8), name("law", 9)}
		if diff := cmp.Diff(want, knowledgeOf(a.purge(purge.Order{Now: later, Days: 30}))); diff != "" {
			t.Error(diff)
		}
		left := []string{knowledge.SnapshotKey("law", version(2)), knowledge.SnapshotKey("law", version(10)), "knowledge/law/notes.txt", knowledge.SnapshotKey("physics", version(1))}
		if diff := cmp.Diff(left, a.keys("knowledge/")); diff != "" {
			t.Error(diff)
		}
	})
}

// knowledgeOf returns the part of a purge that concerns versions of knowledge bases.
func knowledgeOf(gone []string) (out []string) {
	for _, line := range gone {
		if strings.HasPrefix(line, "knowledge ") {
			out = append(out, line)
		}
	}
	return out
}

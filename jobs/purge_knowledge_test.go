package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
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
			stat, err := a.store.(storage.Stater).Stat(t.Context(), knowledge.SnapshotKey("law", version(6)))
			if err != nil {
				t.Fatal(err)
			}
			return stat.Stored
		}
		var last time.Time
		for n := 1; n <= 6; n++ {
			a.put(knowledge.SnapshotKey("law", version(n)))
			for { // the newest is told from the others by its time, which some stores have in seconds
				stat, err := a.store.(storage.Stater).Stat(t.Context(), knowledge.SnapshotKey("law", version(n)))
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
			p    jobs.Purge
			want []string
		}{
			{"no bound", jobs.Purge{Now: later}, nil},
			{"an enqueueing may be under way", jobs.Purge{Now: soon, Knowledge: jobs.Keep{Count: 1}}, nil},
			{"number", jobs.Purge{Now: later, Dry: true, Knowledge: jobs.Keep{Count: 2}}, []string{name("law", 1)}},
			{"age", jobs.Purge{Now: later, Dry: true, Knowledge: jobs.Keep{Days: 30}}, []string{name("law", 1), name("law", 5)}},
			{"young", jobs.Purge{Now: later, Dry: true, Knowledge: jobs.Keep{Days: 50}}, nil},
			{"done", jobs.Purge{Now: later, Knowledge: jobs.Keep{Days: 30}}, []string{name("law", 1), name("law", 5)}},
			{"again", jobs.Purge{Now: later, Knowledge: jobs.Keep{Days: 30}}, nil},
		} {
			if diff := cmp.Diff(tt.want, a.purge(tt.p)); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		// Runs removed from the lists in the same purge protect nothing, but the waiting run does.
		want := []string{name("law", 3), name("law", 4)}
		var got []string
		for _, line := range a.purge(jobs.Purge{Now: later, Knowledge: jobs.Keep{Days: 30}, Runs: jobs.Keep{Days: 1}}) {
			if strings.HasPrefix(line, "knowledge ") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		left := []string{knowledge.SnapshotKey("law", version(2)), knowledge.SnapshotKey("law", version(6)), "knowledge/law/notes.txt", knowledge.SnapshotKey("physics", version(1))}
		if diff := cmp.Diff(left, a.keys("knowledge/")); diff != "" {
			t.Error(diff)
		}
	})
}

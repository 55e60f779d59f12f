package jobs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// progressEvent is an event of a progress file.
type progressEvent struct {
	Status    string
	Timestamp time.Time
	BlockID   string `json:"block_id"`
	Payload   map[string]any
}

func progressOf(t *testing.T, store storage.Store, runID, stage string) []progressEvent {
	t.Helper()
	var file struct{ Events []progressEvent }
	if err := json.Unmarshal(get(t, store, storage.CacheKey(runID, stage+"_progress.json")), &file); err != nil {
		t.Fatal(err)
	}
	return file.Events
}

// names returns the names of the events of a block, or of all if block is empty. Consecutive equal names are merged.
func names(events []progressEvent, block string) string {
	var out []string
	for _, e := range events {
		if block == "" || e.BlockID == block {
			out = append(out, e.Status)
		}
	}
	return strings.Join(slices.Compact(out), " ")
}

// TestProgressFiles: progress files use the names that their readers know.
func TestProgressFiles(t *testing.T) {
	t.Parallel()
	var reviews []string
	b := setup(t, redistest.InProcess(t), stubModel(t, wanting(&reviews)))
	o := options(2, 1, 1)
	o.MaxLoops, o.QueueMaxLength = 1, 3
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, o, "")
	b.wait(id)
	w.Stop()

	planning := progressOf(t, b.services.Store, id, "planning")
	if got, want := names(planning, ""), "planning_started rephrase_skipped decompose_started decompose_completed "+
		"queue_seeded planning_completed"; got != want {
		t.Errorf("planning: %s\nwant %s", got, want)
	}
	research := progressOf(t, b.services.Store, id, "researching")
	for block, first := range map[string]string{"block_1": "", "block_2": "", "block_3": "new_topic_added "} {
		want := first + "block_started iteration_started checking_sufficiency generating_query tool_calling tool_completed " +
			"processing_notes iteration_completed block_completed"
		if got := names(research, block); got != want {
			t.Errorf("%s: %s\nwant %s", block, got, want)
		}
	}
	if got := names(research, ""); !strings.HasPrefix(got, "researching_started parallel_status_update block_started ") ||
		!strings.Contains(got, " new_topic_added queue_capacity_reached ") ||
		!strings.HasSuffix(got, " block_completed parallel_status_update researching_completed") {
		t.Errorf("research: %s", got)
	}
	reporting := progressOf(t, b.services.Store, id, "reporting")
	if got, want := names(reporting, ""), "reporting_started deduplicate_completed outline_completed writing_section "+
		"writing_completed reporting_completed"; got != want {
		t.Errorf("reporting: %s\nwant %s", got, want)
	}
	for _, e := range slices.Concat(planning, research, reporting) {
		if e.Timestamp.IsZero() {
			t.Errorf("%s has no time", e.Status)
		}
		if e.Status == "tool_calling" && (e.Payload["tool_type"] != "rag_hybrid" || e.Payload["query"] == "") {
			t.Errorf("%s: %v", e.Status, e.Payload)
		}
	}
}

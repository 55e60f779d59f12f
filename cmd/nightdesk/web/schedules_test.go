package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue/schedule"
)

// TestSchedules: the batches that come again are shown with what comes next and what came of the last ones; people
// pause, resume and fire them.
func TestSchedules(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.has("/schedules", "There is no schedule yet", "nightdesk schedule add")
	now := time.Now()
	record := schedule.Record{CreatedAt: now, Since: now,
		Spec: schedule.Spec{Name: "nightly", Cron: "0 1 * * *", Zone: "Europe/Berlin", Topics: "/lists/" + hostile,
			CatchUp: schedule.CatchUpOnce, Overlap: schedule.OverlapSkip},
		Firings: []schedule.Firing{
			{Due: now.Add(-24 * time.Hour), State: schedule.Ended, Batch: "nightly-1", Completed: 3, Broken: 1},
			{Due: now.Add(-time.Hour), State: schedule.Failed, Reason: "the list is away"}}}
	if _, err := d.queue.AddSchedule(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	d.has("/schedules", "0 1 * * * Europe/Berlin", `<a href="./batches/nightly-1">nightly-1</a>`, "ended: 1 failed, 3 completed",
		"failed: the list is away", "No scheduler is running", ">Pause<", "/lists/&lt;script&gt;")
	do := func(what, name string, status int) string {
		return d.post("/schedules", "same-origin", url.Values{"do": {what}, "schedule": {name}}, status)
	}
	if body := do("pause", "nightly", http.StatusOK); !strings.Contains(body, `role="status"`) ||
		!strings.Contains(body, `value="resume"`) {
		t.Errorf("%s", body)
	}
	if r, err := d.queue.Schedule(t.Context(), "nightly"); err != nil || r.Paused != "on the page" {
		t.Errorf("%q, %v", r.Paused, err)
	}
	do("resume", "nightly", http.StatusOK)
	if body := do("fire", "nightly", http.StatusOK); !strings.Contains(body, `href="./batches/nightly-2`) {
		t.Errorf("%s", body)
	}
	do("pause", "weekly", http.StatusNotFound)
	do("remove", "nightly", http.StatusBadRequest)
	d.post("/schedules", "cross-site", url.Values{"do": {"pause"}, "schedule": {"nightly"}}, http.StatusForbidden)
}

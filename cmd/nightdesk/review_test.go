package main_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestKilledReviewer kills the worker in the middle of its review's call: another one reviews, and the block that it
// adds is researched.
func TestKilledReviewer(t *testing.T) {
	t.Parallel() // it waits for a lease most of the time
	f := newFleet(t, time.Millisecond, shortLease)
	var reviews atomic.Int32
	reached, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) }) // before the server closes
	f.model.Review = func() []string {
		if reviews.Add(1) == 1 {
			close(reached)
			<-end
		}
		return []string{"The anchors of the harbour"}
	}
	f.enqueue(1, "--preset", "medium")
	victim := f.worker(6)
	<-reached
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	heir := f.worker(6)
	states := f.wait(1)
	f.stop(heir)
	f.checkReports(1, states)
	// the review that was killed, the same again, and one of the block that it added
	if n := reviews.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	var list struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(f.output("list", "--batch", "fleet", "--json"))), &list); err != nil {
		t.Fatal(err)
	}
	out := f.output("status", list.RunID, "--json")
	if !strings.Contains(out, `"sub_topic": "The anchors of the harbour"`) || !strings.Contains(out, `"why": "It is open."`) {
		t.Errorf("the status does not show the block that was added:\n%s", out)
	}
}

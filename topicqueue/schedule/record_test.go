package schedule_test

import (
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue/schedule"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func spec(change func(*schedule.Spec)) schedule.Spec {
	s := schedule.Spec{Name: "nightly", Cron: "0 1 * * *", Zone: "UTC", Topics: "/topics.txt",
		CatchUp: schedule.CatchUpOnce, Overlap: schedule.OverlapSkip, PauseAfter: 2}
	if change != nil {
		change(&s)
	}
	return s
}

// states lists the state of each due time: "2 01:00 running".
func states(r schedule.Record) string {
	var out []string
	for _, f := range r.Firings {
		out = append(out, f.Due.Format("2 15:04 ")+string(f.State))
	}
	return strings.Join(out, ", ")
}

// ran records that the topics of a firing are in the queue.
func ran(r *schedule.Record, due time.Time) { r.At(due).State = schedule.Running }

func TestAdvance(t *testing.T) {
	t.Parallel()
	day := func(n, hour, minute int) time.Time { return time.Date(2026, 3, n, hour, minute, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		spec func(*schedule.Spec)
		do   func(r *schedule.Record)
		want string
	}{
		{"not yet", nil, func(r *schedule.Record) { r.Advance(day(2, 0, 59), "a") }, ""},
		{"in time", nil, func(r *schedule.Record) { r.Advance(day(2, 1, 0), "a") }, "2 01:00 firing"},
		{"once", nil, func(r *schedule.Record) { r.Advance(day(2, 1, 0), "a"); r.Advance(day(2, 1, 0), "b") }, "2 01:00 firing"},
		{"a missed night is caught up", nil, func(r *schedule.Record) { r.Advance(day(2, 8, 0), "a") }, "2 01:00 firing"},
		{"of missed nights the last one is caught up", nil, func(r *schedule.Record) { r.Advance(day(5, 8, 0), "a") }, "4 01:00 missed, 5 01:00 firing"},
		{"missed nights are skipped", func(s *schedule.Spec) { s.CatchUp = schedule.CatchUpSkip },
			func(r *schedule.Record) { r.Advance(day(5, 8, 0), "a"); r.Advance(day(6, 1, 0), "a") }, "5 01:00 missed, 6 01:00 firing"},
		{"some minutes late is not missed", func(s *schedule.Spec) { s.CatchUp = schedule.CatchUpSkip },
			func(r *schedule.Record) { r.Advance(day(2, 1, 9), "a") }, "2 01:00 firing"},
		{"the previous batch is still running", nil, func(r *schedule.Record) {
			ran(r, r.Advance(day(2, 1, 0), "a"))
			r.Advance(day(3, 1, 0), "a")
		}, "2 01:00 running, 3 01:00 skipped"},
		{"and the next one waits for it", func(s *schedule.Spec) { s.Overlap = schedule.OverlapQueue }, func(r *schedule.Record) {
			ran(r, r.Advance(day(2, 1, 0), "a"))
			r.Advance(day(3, 1, 0), "a")
			r.Advance(day(4, 1, 0), "a")
		}, "2 01:00 running, 3 01:00 waiting, 4 01:00 skipped"},
		{"until it has ended", func(s *schedule.Spec) { s.Overlap = schedule.OverlapQueue }, func(r *schedule.Record) {
			first := r.Advance(day(2, 1, 0), "a")
			ran(r, first)
			r.Advance(day(3, 1, 0), "a")
			r.End(r.At(first), schedule.Outcome{Completed: 1}, day(3, 2, 0))
			if due := r.Advance(day(3, 2, 0), "b"); !due.Equal(day(3, 1, 0)) {
				panic(due)
			}
		}, "2 01:00 ended, 3 01:00 firing"},
		{"paused", nil, func(r *schedule.Record) {
			r.Pause("", day(1, 13, 0))
			r.Pause("holidays", day(1, 13, 0))
			r.Advance(day(5, 1, 0), "a")
		}, ""},
		{"resumed: nothing is caught up", nil, func(r *schedule.Record) {
			r.Pause("holidays", day(1, 13, 0))
			r.Resume(day(4, 13, 0))
			r.Advance(day(5, 1, 0), "a")
		}, "5 01:00 firing"},
		{"other times begin when they are set", nil, func(r *schedule.Record) {
			r.Respec(spec(func(s *schedule.Spec) { s.Cron = "0 2 * * *" }), day(4, 13, 0))
			r.Advance(day(5, 2, 0), "a")
		}, "5 02:00 firing"},
		{"by hand", nil, func(r *schedule.Record) { r.Fire(day(1, 13, 0), "a"); r.Fire(day(1, 13, 0), "a") }, "1 13:00 firing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := schedule.New(spec(tt.spec), begin)
			tt.do(&r)
			if got := states(r); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	r, now := schedule.New(spec(nil), begin), time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
	due := r.Advance(now, "a")
	if got := r.Advance(now.Add(schedule.TakeOver-1), "b"); !got.IsZero() {
		t.Errorf("b got the firing of a living owner, due %s", got)
	}
	if got := r.Advance(now.Add(schedule.TakeOver-1), "a"); !got.Equal(due) {
		t.Errorf("the owner got %s of its own firing, want %s", got, due)
	}
	if got := r.Advance(now.Add(schedule.TakeOver), "b"); !got.Equal(due) || r.At(due).Owner != "b" {
		t.Errorf("b got %s, want %s", got, due)
	}
	if got := r.Advance(now.Add(schedule.TakeOver), "c"); !got.IsZero() {
		t.Errorf("c got %s too", got)
	}
}

func TestUnreadTopics(t *testing.T) {
	t.Parallel()
	r, now := schedule.New(spec(nil), begin), time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
	due, tries, first := r.Advance(now, "a"), 0, now
	for f := r.At(due); f.State == schedule.Open; tries++ {
		r.Unread(f, "no such file", now)
		if next := r.Advance(now, "a"); f.State == schedule.Open && !next.IsZero() {
			t.Fatal("tried again at once")
		}
		now = now.Add(10 * time.Minute)
		if now.Before(f.RetryAt) {
			t.Fatalf("pause until %s", f.RetryAt)
		}
	}
	if tries != schedule.MaxTries || r.At(due).State != schedule.Failed || r.Failures != 1 || r.Paused != "" {
		t.Errorf("after %d tries, %s: %+v", tries, now.Sub(first), r)
	}
	due, _ = r.Fire(now, "a")
	if r.Unread(r.At(due), "no such file", now); r.At(due).State != schedule.Failed || r.Failures != 1 {
		t.Errorf("by hand: %+v", r)
	}
}

// TestFailedNights: a number of consecutive failed nights pauses the schedule. A night with a report restarts the
// count.
func TestFailedNights(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		nights []schedule.Outcome
		paused bool
	}{
		{"all failed", []schedule.Outcome{{Failed: 3}, {Failed: 2, Cancelled: 1}}, true},
		{"one report between", []schedule.Outcome{{Failed: 3}, {Failed: 2, Partial: 1}, {Failed: 3}}, false},
		{"cancelled is not failed", []schedule.Outcome{{Cancelled: 3}, {Cancelled: 3}}, false},
		{"one only", []schedule.Outcome{{Failed: 3}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, now := schedule.New(spec(nil), begin), time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
			for _, o := range tt.nights {
				due := r.Advance(now, "a")
				r.End(r.At(due), o, now.Add(time.Hour))
				now = now.AddDate(0, 0, 1)
			}
			if paused := r.Paused != ""; paused != tt.paused {
				t.Fatalf("paused: %q", r.Paused)
			}
			if tt.paused && (r.Failures != 2 || !strings.Contains(r.Paused, "2026-03-03T01:00:00Z")) {
				t.Errorf("%d failures, and it says %q", r.Failures, r.Paused)
			}
		})
	}
}

func TestKeptFirings(t *testing.T) {
	t.Parallel()
	r, now := schedule.New(spec(func(s *schedule.Spec) { s.Overlap = schedule.OverlapSkip }), begin), time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
	due := r.Advance(now, "a")
	ran(&r, due)
	for range 100 {
		now = now.AddDate(0, 0, 1)
		r.Advance(now, "a")
	}
	if len(r.Firings) != 50 || r.At(due) == nil {
		t.Errorf("%d firings are kept, the one that is worked: %v", len(r.Firings), r.At(due))
	}
}

func TestSpecCheck(t *testing.T) {
	t.Parallel()
	if err := spec(nil).Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*schedule.Spec){
		"schedule name":  func(s *schedule.Spec) { s.Name = "a b" },
		"cron":           func(s *schedule.Spec) { s.Cron = "1" },
		"time zone":      func(s *schedule.Spec) { s.Zone = "Mars" },
		"list of topics": func(s *schedule.Spec) { s.Topics = "" },
		"deadline":       func(s *schedule.Spec) { s.Deadline = "7" },
		"catch up":       func(s *schedule.Spec) { s.CatchUp = "" },
		"overlap":        func(s *schedule.Spec) { s.Overlap = "both" },
		"pause after":    func(s *schedule.Spec) { s.PauseAfter = 0 },
	} {
		if err := spec(change).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
}

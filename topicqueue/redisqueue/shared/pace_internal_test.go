package shared

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/topicqueue"
)

// TestTurnsGoRunByRun: waiting calls are served run by run, in order of arrival, and within a run in order of the
// calls.
func TestTurnsGoRunByRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(nil)
		enter := func(run, key string) error {
			return p.enter(topicqueue.ForRun(t.Context(), run), key, time.Second)
		}
		for _, run := range []string{"first", "second", "third"} {
			if err := enter(run, "other "+run); err != nil {
				t.Fatal(err)
			}
		}
		if err := enter("third", "engine"); err != nil { // its turn is now
			t.Fatal(err)
		}
		turns := make(chan string, 10)
		wait := func(run, name string) {
			go func() {
				if err := enter(run, "engine"); err != nil {
					t.Error(err)
				}
				turns <- name
			}()
			synctest.Wait()
		}
		wait("third", "3a")
		wait("second", "2a")
		wait("first", "1a")
		wait("second", "2b")
		wait("first", "1b")
		wait("", "of no run")
		late, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := p.enter(topicqueue.ForRun(late, "fourth"), "engine", time.Second)
		if !errors.Is(err, context.DeadlineExceeded) || late.Err() != nil {
			t.Errorf("too late: %v", err)
		}
		why := errors.New("the run was cancelled")
		cancelled, end := context.WithCancelCause(t.Context())
		go func() {
			if err := p.enter(topicqueue.ForRun(cancelled, "first"), "engine", time.Second); !errors.Is(err, why) {
				t.Errorf("cancelled: %v", err)
			}
		}()
		synctest.Wait()
		end(why)
		synctest.Wait()
		var got []string
		for range 6 {
			p.leave("engine")
			synctest.Wait()
			got = append(got, <-turns)
		}
		if want := []string{"of no run", "1a", "1b", "2a", "2b", "3a"}; !slices.Equal(got, want) {
			t.Errorf("turns %v, want %v", got, want)
		}
		p.leave("engine")
		if len(p.lines) != 3 { // of the other keys
			t.Errorf("%d lines are left", len(p.lines))
		}
	})
}

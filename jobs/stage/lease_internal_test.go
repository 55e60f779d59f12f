package stage

import (
	"context"
	"errors"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// TestLostLeases: an attempt that loses its lease stops. An attempt that releases it does not, because the reply of the
// release may be lost, and it still has tasks to enqueue.
func TestLostLeases(t *testing.T) {
	t.Parallel()
	l := newLeases(time.Minute)
	begin := func(unit string) (*Attempt, context.Context) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := &Attempt{Begun: redisqueue.Begun{Lease: redisqueue.Lease{RunID: "run", Unit: unit, Generation: 1}}, gate: newGate(), cancel: cancel}
		l.add(a)
		return a, ctx
	}
	works, atWork := begin("block_1")
	ends, atEnd := begin("block_2")
	l.ending(ends)
	l.renewed([]redisqueue.Lease{works.Lease, ends.Lease}, redisqueue.Renewed{Lost: []string{"block_1", "block_2"}}, time.Now())
	if !errors.Is(context.Cause(atWork), redisqueue.ErrFenced) {
		t.Errorf("the attempt that works goes on: %v", context.Cause(atWork))
	}
	if atEnd.Err() != nil {
		t.Errorf("the attempt that ends was stopped: %v", context.Cause(atEnd))
	}
}

// TestFrozenPublisher: a publisher that was frozen and lost its lease does not change the bundle that another one has
// completed. A publisher that still holds its lease continues.
func TestFrozenPublisher(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{"taken over": {redisqueue.UnitPublish}, "still its own": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := storage.NewDir(t.TempDir())
			manifest := storage.ManifestKey("run")
			if err := store.Put(t.Context(), manifest, []byte("whole")); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			held := newLeases(time.Minute)
			a := &Attempt{Begun: redisqueue.Begun{Lease: redisqueue.Lease{RunID: "run", Unit: redisqueue.UnitPublish, Generation: 1}},
				runner: &Runner{leases: held}, gate: newGate(), cancel: cancel}
			held.add(a)
			held.held[a.Lease].renewed = time.Now().Add(-2 * time.Minute) // it was frozen
			s := leasedStore{store, a}
			done := make(chan error, 3)
			go func() {
				done <- s.Delete(ctx, manifest)
				done <- s.Put(ctx, "reports/run.md", nil)
				done <- storage.PutMany(ctx, s, []storage.Artefact{{Key: "reports/run.html"}})
			}()
			held.renewed([]redisqueue.Lease{a.Lease}, redisqueue.Renewed{Lost: lost}, time.Now())
			for range 3 {
				if err := <-done; errors.Is(err, redisqueue.ErrFenced) != (lost != nil) {
					t.Error(err)
				}
			}
			there, err := store.Exists(t.Context(), manifest)
			put, err2 := store.Exists(t.Context(), "reports/run.md")
			many, err3 := store.Exists(t.Context(), "reports/run.html")
			if there != (lost != nil) || put != (lost == nil) || many != put || errors.Join(err, err2, err3) != nil {
				t.Errorf("manifest there: %t, report put: %t, HTML put: %t; %v", there, put, many, errors.Join(err, err2, err3))
			}
		})
	}
}

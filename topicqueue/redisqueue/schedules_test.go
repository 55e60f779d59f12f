package redisqueue_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/schedule"
)

func nightly() schedule.Record {
	return schedule.New(schedule.Spec{Name: "nightly", Cron: "0 1 * * *", Zone: "Europe/Berlin", Topics: "/topics.txt",
		CatchUp: schedule.CatchUpOnce, Overlap: schedule.OverlapSkip, PauseAfter: 3}, created)
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		if _, err := q.Schedule(ctx, "nightly"); !errors.Is(err, redisqueue.ErrNoSchedule) {
			t.Errorf("before it is added: %v", err)
		}
		if _, err := q.ChangeSchedule(ctx, "nightly", func(*schedule.Record) error { return nil }); !errors.Is(err, redisqueue.ErrNoSchedule) {
			t.Errorf("change before it is added: %v", err)
		}
		for i, want := range []bool{true, false} {
			if added, err := q.AddSchedule(ctx, nightly()); err != nil || added != want {
				t.Fatalf("add %d: %v, %v", i+1, added, err)
			}
		}
		if got, err := q.Schedule(ctx, "nightly"); err != nil || got.Spec != nightly().Spec || !got.Since.Equal(created) {
			t.Errorf("stored is %+v, %v", got, err)
		}
		wrong := errors.New("not now")
		if _, err := q.ChangeSchedule(ctx, "nightly", func(r *schedule.Record) error { r.Failures = 7; return wrong }); !errors.Is(err, wrong) {
			t.Errorf("a change that fails: %v", err)
		}
		// Many concurrent changes: none is lost.
		const writers, each = 8, 25
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range each {
					if _, err := q.ChangeSchedule(ctx, "nightly", func(r *schedule.Record) error { r.Failures++; return nil }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if all, err := q.Schedules(ctx); err != nil || len(all) != 1 || all[0].Failures != writers*each {
			t.Errorf("after %d changes: %+v, %v", writers*each, all, err)
		}
		for i, want := range []bool{true, false} {
			if removed, err := q.RemoveSchedule(ctx, "nightly"); err != nil || removed != want {
				t.Fatalf("remove %d: %v, %v", i+1, removed, err)
			}
		}
	})
}

package nights

import (
	"encoding/json"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue/schedule"
)

// board adds schedules to asynq's list of schedulers, so that asynqmon shows them. The tasks that asynq enqueues from
// it wake one of our schedulers. The due time in the task id prevents duplicate tasks.
type board struct {
	asynq *asynq.Scheduler
	log   tasks.AsynqLog
	shown map[string]boardEntry // by schedule
}

type boardEntry struct{ task, id string }

// keepTask is how long a task that has woken a scheduler stays visible.
const keepTask = 24 * time.Hour

func newBoard(rdb redis.UniversalClient, heartbeat time.Duration, log tasks.AsynqLog) *board {
	return &board{
		// At shutdown, asynq complains that it does not own the connection, which is ours, so only fatal messages are
		// logged.
		asynq: asynq.NewSchedulerFromRedisClient(rdb, &asynq.SchedulerOpts{HeartbeatInterval: heartbeat, Logger: log,
			LogLevel: asynq.FatalLevel}),
		log: log, shown: map[string]boardEntry{},
	}
}

// show makes the list match records.
func (b *board) show(records []schedule.Record, now time.Time) {
	there := map[string]bool{}
	for _, r := range records {
		next := r.Next(r.Since, 1)
		if r.Paused != "" || len(next) == 0 {
			continue
		}
		there[r.Name] = true
		task := "fire:" + r.Name + ":" + next[0].UTC().Format(time.RFC3339)
		if b.shown[r.Name].task == task {
			continue
		}
		b.remove(r.Name)
		payload, err := json.Marshal(map[string]string{"schedule": r.Name, "cron": r.Cron, "timezone": r.Zone})
		if err != nil {
			continue // only strings, cannot fail
		}
		id, err := b.asynq.Register(r.PlainCron(now), asynq.NewTask(KindFire, payload),
			asynq.TaskID(task), asynq.Queue(tasks.QueueScheduling), asynq.MaxRetry(0), asynq.Retention(keepTask))
		if err != nil {
			b.log.Warn("schedule ", r.Name, " is not shown among asynq's: ", err)
			continue
		}
		b.shown[r.Name] = boardEntry{task, id}
	}
	for name := range b.shown {
		if !there[name] {
			b.remove(name)
		}
	}
}

func (b *board) remove(name string) {
	if e, ok := b.shown[name]; ok {
		_ = b.asynq.Unregister(e.id) // cannot fail: it is registered
		delete(b.shown, name)
	}
}

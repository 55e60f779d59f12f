package tasks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// Unsent holds the unsent notifications of a receiver.
type Unsent struct {
	Webhook string // key of the webhook; empty: mailed digests, and events of a version with a single webhook
	Queue   string // asynq queue with the notifications
	Waiting int    // to be sent, including failed ones
	Failed  int    // of these, to be sent again
	GivenUp int    // not retried, unless the tasks are run again
	Error   string // of a failed or given-up notification
}

// UnsentEvents returns the unsent notifications of all receivers, sorted by the number waiting, largest first.
// Notifications for a receiver that is in no worker's settings wait forever.
func UnsentEvents(rdb redis.UniversalClient) ([]Unsent, error) {
	out, err := eachReceiver(rdb, (*Unsent).count)
	slices.SortFunc(out, func(a, b Unsent) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Queue, b.Queue))
	})
	return out, err
}

// RetryNotifications schedules given-up and waiting notifications to be sent now. It returns their number by receiver,
// in Waiting. After an error, some may already be scheduled.
func RetryNotifications(rdb redis.UniversalClient) ([]Unsent, error) {
	return eachReceiver(rdb, (*Unsent).retry)
}

// eachReceiver calls do for the receivers that have queues, and returns those that then have notifications.
func eachReceiver(rdb redis.UniversalClient, do func(*Unsent, *asynq.Inspector) error) (out []Unsent, err error) {
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	queues, err := inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list the queues of webhooks: %w", err)
	}
	for _, queue := range queues {
		key, isHook := strings.CutPrefix(queue, WebhookQueue(""))
		if !isHook && queue != QueueNotifying {
			continue
		}
		u := Unsent{Queue: queue}
		if isHook {
			u.Webhook = key
		}
		if err := do(&u, inspector); err != nil {
			return out, fmt.Errorf("notifications in queue %s: %w", queue, err)
		}
		if u.Waiting+u.GivenUp > 0 {
			out = append(out, u)
		}
	}
	return out, nil
}

// retry schedules the receiver's notifications.
func (u *Unsent) retry(inspector *asynq.Inspector) error {
	archived, err := inspector.RunAllArchivedTasks(u.Queue)
	if err != nil {
		return err
	}
	failed, err := inspector.RunAllRetryTasks(u.Queue)
	u.Waiting = archived + failed
	return err
}

// count reads the counts from the receiver's queue.
func (u *Unsent) count(inspector *asynq.Inspector) error {
	info, err := inspector.GetQueueInfo(u.Queue)
	if err != nil {
		return err
	}
	u.Waiting = info.Pending + info.Active + info.Scheduled + info.Retry
	u.Failed, u.GivenUp = info.Retry, info.Archived
	for _, list := range []func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){inspector.ListRetryTasks,
		inspector.ListArchivedTasks} {
		some, err := list(u.Queue, asynq.PageSize(1))
		if err != nil {
			return err
		}
		if len(some) > 0 && u.Error == "" {
			u.Error = some[0].LastErr
		}
	}
	return nil
}

package tasks

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/hibiken/asynq"

	"nightdesk/topicqueue/redisqueue"
)

// DigestPayload is the content of the tasks that write and mail the digest of a batch. Repeating them does the same.
type DigestPayload struct {
	Batch      string `json:"batch"`
	Generation int    `json:"generation"`
}

func (p *DigestPayload) check() error {
	if p.Batch == "" {
		return errors.New("a batch is needed")
	}
	return nil
}

// EnqueueDigest enqueues the digest of a batch. If a dead task has the same id, it advances to a new generation.
func (d *Dispatcher) EnqueueDigest(ctx context.Context, q *redisqueue.Queue, batch string, generation int) error {
	for {
		id := "digest:" + batch + ":" + strconv.Itoa(generation)
		queue := QueueName(QueueReporting, "")
		err := d.put(ctx, KindDigest, queue, id, DigestPayload{batch, generation}, asynq.MaxRetry(math.MaxInt32))
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
		dead, active, err := d.dead(queue, id)
		if err != nil || !dead {
			return err
		}
		next, err := q.AdvanceDigest(ctx, batch, generation, active)
		if err != nil || next == generation {
			return err
		}
		generation = next
	}
}

package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"nightdesk/storage"
)

// maxEntry is the size of an answer above which the journal keeps it in storage and only its name in Redis.
const maxEntry = 64 << 10

// storedMark begins an entry that names an artefact; an answer is JSON and never begins so.
const storedMark = '@'

// once is the attempt's topicqueue.Once: every model and tool call of the pipeline passes here.
func (a *attempt) once(ctx context.Context, place string, do func(context.Context) ([]byte, bool, error)) ([]byte, error) {
	return a.replay(ctx, place, func(ctx context.Context) ([]byte, bool, error) {
		if err := a.w.leases.wait(ctx, a.Lease); err != nil { // Redis is away: nothing new begins until it is back
			return nil, false, err
		}
		if !a.gate.enter() {
			return nil, false, a.stop(ctx)
		}
		defer a.gate.leave()
		value, keep, err := do(ctx)
		if err == nil && keep {
			value, err = a.record(ctx, place, value)
		}
		return value, keep, err
	})
}

// replay is once for what is not to be asked any more: what the journal has, else what do makes of it.
func (a *attempt) replay(ctx context.Context, place string, do func(context.Context) ([]byte, bool, error)) ([]byte, error) {
	value, found, err := a.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	value, _, err = do(ctx)
	return value, err
}

// stop ends the attempt when its calls in flight have ended: the others are not lost for the sake of the first one that
// is turned away.
func (a *attempt) stop(ctx context.Context) error {
	select {
	case <-a.gate.landed:
		a.cancel(a.gate.cause())
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// recall reads the journal.
func (a *attempt) recall(ctx context.Context, place string) (value []byte, found bool, err error) {
	err = a.w.steady(ctx, "read the journal", func(ctx context.Context) error {
		value, found, err = a.w.Queue.Journaled(ctx, a.Lease, place)
		if err != nil || !found || value[0] != storedMark {
			return err
		}
		value, err = a.w.Store.Get(ctx, string(value[1:]))
		return err
	})
	return value, found, err
}

// recordTime bounds how long an answer that was paid for, and what it cost, wait for a Redis that is away.
const recordTime = 2 * time.Minute

// record writes the journal, also when the attempt has been told to end meanwhile: the answer was paid for, and the one
// that comes after it will ask the same.
func (a *attempt) record(ctx context.Context, place string, value []byte) ([]byte, error) {
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	stands := value
	err := a.w.steady(saveCtx, "write the journal", func(ctx context.Context) error {
		entry := value
		if len(value) > maxEntry {
			sum := sha256.Sum256(value)
			name := storage.JournalPrefix(a.Run.ID) + hex.EncodeToString(sum[:]) + ".json"
			if err := a.w.Store.Put(ctx, name, value); err != nil {
				return err
			}
			entry = append([]byte{storedMark}, name...)
		}
		there, err := a.w.Queue.Journal(ctx, a.Lease, a.Epoch, place, entry)
		if err != nil {
			return err
		}
		if stands = there; there[0] == storedMark {
			stands, err = a.w.Store.Get(ctx, string(there[1:]))
		}
		return err
	})
	return stands, err
}

package jobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// calls makes the model and tool calls of an attempt. No call is made twice, and each is paid from the attempt's
// budget.
type calls struct {
	a         *attempt
	client    llm.Model // nil: extractive path
	prices    llm.Prices
	store     storage.Store
	shared    tools.Shared
	settings  Settings
	onStop    func(cancel func()) (forget func() bool) // calls cancel when a stopped worker's grace is over
	documents []topicqueue.Document                    // attached to the run, as shown to the model
	away      atomic.Value                             // string: why the last unanswered model call got no answer
}

// runner returns the runner of the run's tool calls.
func (c *calls) runner(box Toolbox) *tools.Runner {
	return &tools.Runner{
		Tools: box.Tools, Pages: steadyPages{storage.Pages{Store: c.store}}, Timeout: c.settings.ToolTimeout,
		Limit: c.settings.ResultLimit, Once: c.once, Made: c.a.traceTool,
		Shared: c.shared, Scope: shareWith(c.a.Run, c.a.Epoch), Lifetime: c.settings.SharedLifetime,
	}
}

// shareWith returns the scopes in which a run shares results: public results within its batch, others within the run. A
// retried run shares nothing, so that it gets fresh results.
func shareWith(run topicqueue.Run, epoch int) tools.Scope {
	own := fmt.Sprintf("run\x00%s\x00%d", run.ID, epoch)
	if epoch > 0 {
		return tools.Scope{Public: own, Private: own}
	}
	return tools.Scope{Public: "batch\x00" + run.Batch, Private: own}
}

// withoutModel returns a model that only replays recorded answers; nil without a model.
func (c *calls) withoutModel() llm.Model {
	if c.client == nil {
		return nil
	}
	return llm.About(llm.Journaled(noModel{}, c.replay), c.background)
}

// noModel is a model that never answers.
type noModel struct{}

func (noModel) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, fmt.Errorf("no model calls in this phase: %w", llm.ErrUnavailable)
}

// model returns the run's access to models; nil without a model. It asks nothing twice, records the cost of every call,
// and stays within the run's budget.
func (c *calls) model() llm.Model {
	if c.client == nil {
		return nil
	}
	m := c.client
	if limit := c.a.hardLimit(); limit >= 0 {
		m = llm.Patient(m, c.a.until(c.patience(limit)))
	}
	return llm.About(llm.Journaled(m, c.ask), c.background)
}

// background returns the context that all prompts of the run get.
func (c *calls) background() llm.Background {
	run := c.a.Run
	return llm.Background{Language: run.Options.Language, Date: run.Date(c.a.begun), UserInfo: run.Options.UserInfo,
		Documents: c.documents, Length: run.Options.Length, Audience: run.Options.Audience}
}

// patience returns how long an attempt waits for a model server that is down. The rest of limit is for work without the
// model. Planning waits for less, because the calls of the topic blocks wait again.
func (c *calls) patience(limit time.Duration) time.Duration {
	if c.a.Lease.Unit == redisqueue.UnitPlan {
		return limit / (planShare + 1)
	}
	return limit - limit/3
}

// maxReason is the maximum length of the recorded reason why a model did not answer, in bytes.
const maxReason = 1000

// maxEntry is the size in bytes above which the journal keeps an answer in storage, and only its name in Redis.
const maxEntry = 64 << 10

// storedMark begins an entry that names an artefact. No answer begins with it, because answers are JSON.
const storedMark = '@'

// once is the attempt's topicqueue.Once. Every tool call of the pipeline goes through it.
func (c *calls) once(ctx context.Context, place string,
	do func(context.Context) ([]byte, bool, error)) ([]byte, error) {
	value, found, err := c.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.a.gate.leave()
	value, keep, err := do(ctx)
	if err == nil && keep {
		value, err = c.record(ctx, place, value, nil)
	}
	return value, err
}

// ask is the attempt's llm.Journal. Every model call of the pipeline goes through it.
func (c *calls) ask(ctx context.Context, place string, most topicqueue.Usage,
	do func(context.Context, int) (llm.Made, error)) ([]byte, error) {
	value, found, err := c.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	limit, err := c.a.budget.reserve(ctx, place, most)
	if err != nil {
		return nil, err
	}
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.a.gate.leave()
	began := time.Now()
	made, err := do(ctx, limit)
	allowed := cmp.Or(limit, most.CompletionTokens)
	made.Usage.OverLimit = allowed > 0 && made.Usage.CompletionTokens > allowed && !made.Usage.Estimated
	if errors.Is(err, llm.ErrUnavailable) {
		c.away.Store(topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxReason))
	}
	if cost, known := c.prices.Cost(made.Usage); known {
		made.Usage.CostUSD = &cost
	}
	c.traceModel(began, made, err)
	value, saveErr := c.record(ctx, place, made.Answer, &made.Usage)
	if err == nil {
		err = saveErr
	}
	return value, err
}

// replay is an llm.Journal that makes no calls and only returns recorded answers.
func (c *calls) replay(ctx context.Context, place string, _ topicqueue.Usage,
	do func(context.Context, int) (llm.Made, error)) ([]byte, error) {
	value, found, err := c.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	_, err = do(ctx, 0)
	return nil, err
}

// enter lets a call begin. End the call with gate.leave.
func (c *calls) enter(ctx context.Context) error {
	if err := c.a.leases.wait(ctx, c.a.Lease); err != nil { // Redis is away: no call begins until it is back
		return err
	}
	if !c.a.gate.enter() {
		return c.stop(ctx)
	}
	return nil
}

// stop ends the attempt after its calls in flight have ended, so that they are not lost when the first call is refused.
func (c *calls) stop(ctx context.Context) error {
	select {
	case <-c.a.gate.landed:
		c.a.cancel(c.a.gate.cause())
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// recall reads an entry of the journal.
func (c *calls) recall(ctx context.Context, place string) (value []byte, found bool, err error) {
	err = steady(ctx, "read the journal", func(ctx context.Context) error {
		value, found, err = c.a.queue.Journaled(ctx, c.a.Lease, place)
		if err != nil || !found || value[0] != storedMark {
			return err
		}
		value, err = c.store.Get(ctx, string(value[1:]))
		return err
	})
	return value, found, err
}

// recordTime is how long a paid answer and its cost wait for Redis if it is unavailable.
const recordTime = 2 * time.Minute

// record writes an entry to the journal, even if the attempt was told to end, because the answer is paid for and the
// next attempt will ask the same. value: nil if there is nothing to keep. usage: nil unless it is a model call.
func (c *calls) record(ctx context.Context, place string, value []byte, usage *topicqueue.Usage) ([]byte, error) {
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	defer c.onStop(cancel)() // a stopping worker ends this wait
	stands := value
	err := steady(saveCtx, "write the journal", func(ctx context.Context) (err error) {
		entry := value
		if len(value) > maxEntry {
			sum := sha256.Sum256(value)
			name := storage.JournalPrefix(c.a.Run.ID) + hex.EncodeToString(sum[:]) + ".json"
			if err := c.store.Put(ctx, name, value); err != nil {
				return err
			}
			entry = append([]byte{storedMark}, name...)
		}
		var there []byte
		if usage == nil {
			there, err = c.a.queue.Journal(ctx, c.a.Lease, c.a.Epoch, place, entry)
		} else {
			cost, _ := c.a.Run.Options.Limit().Cost(*usage)
			there, err = c.a.queue.Answered(ctx, c.a.Lease, c.a.Epoch, place, entry, *usage, cost)
		}
		if err != nil || len(there) == 0 {
			return err
		}
		if stands = there; there[0] == storedMark {
			stands, err = c.store.Get(ctx, string(there[1:]))
		}
		return err
	})
	return stands, err
}

package stage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"nightdesk/jobs/steady"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Calls makes the model and tool calls of an attempt. No call is made twice, and each is paid from the attempt's
// budget.
type Calls struct {
	a         *Attempt
	Documents []topicqueue.Document // attached to the run, as shown to the model
	away      atomic.Value          // string: see Away
}

const (
	// toolTimeout is the maximum duration of a tool call. A slow page takes up to 30 s, and run_code 20 s.
	toolTimeout = time.Minute
	// sharedLifetime is how long the runs of a batch share results of web searches and pages: one night.
	sharedLifetime = 12 * time.Hour
)

// Runner returns the runner of the run's calls of these tools.
func (c *Calls) Runner(set tools.Set) *tools.Runner {
	return &tools.Runner{
		Tools: set, Pages: steady.Pages{Pages: storage.Pages{Store: c.a.Store}}, Timeout: toolTimeout,
		Limit: tools.ResultLimit, Once: c.Once, Made: c.a.traceTool,
		Shared: c.a.Shared, Scope: shareWith(c.a.Run, c.a.Epoch), Lifetime: sharedLifetime,
	}
}

// Away returns why the last unanswered model call got no answer; empty: all were answered.
func (c *Calls) Away() string {
	why, _ := c.away.Load().(string)
	return why
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

// WithoutModel returns a model that only replays recorded answers; nil without a model.
func (c *Calls) WithoutModel() llm.Model {
	if c.a.Model == nil {
		return nil
	}
	return llm.Run{Model: noModel{}, Journal: c.replay, Background: c.background}
}

// noModel is a model that never answers.
type noModel struct{}

func (noModel) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, fmt.Errorf("no model calls in this phase: %w", llm.ErrUnavailable)
}

// Model returns the run's access to models; nil without a model. It asks nothing twice, records the cost of every call,
// and stays within the run's budget.
func (c *Calls) Model() llm.Model {
	if c.a.Model == nil {
		return nil
	}
	m := llm.Run{Model: c.a.Model, Journal: c.Ask, Background: c.background}
	if limit := c.a.HardLimit(); limit >= 0 {
		m.Until = c.a.Until(c.patience(limit))
	}
	return m
}

// background returns the context that all prompts of the run get.
func (c *Calls) background() llm.Background {
	run := c.a.Run
	return llm.Background{Language: run.Options.Language, Date: run.Date(c.a.begun), UserInfo: run.Options.UserInfo,
		Documents: c.Documents, Length: run.Options.Length, Audience: run.Options.Audience}
}

// patience returns how long an attempt waits for a model server that is down.
func (c *Calls) patience(limit time.Duration) time.Duration {
	if c.a.stage.Patience != nil {
		return c.a.stage.Patience(limit)
	}
	return limit - limit/3
}

// MaxReason is the maximum length of the recorded reason why a model did not answer, in bytes.
const MaxReason = 1000

// maxEntry is the size in bytes above which the journal keeps an answer in storage, and only its name in Redis.
const maxEntry = 64 << 10

// storedMark begins an entry that names an artefact. No answer begins with it, because answers are JSON.
const storedMark = '@'

// Once is the attempt's topicqueue.Once. Every tool call of the pipeline goes through it.
func (c *Calls) Once(ctx context.Context, place string,
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

// Ask is the attempt's llm.Journal. Every model call of the pipeline goes through it.
func (c *Calls) Ask(ctx context.Context, place string, most topicqueue.Usage,
	do func(context.Context, int) (llm.Made, error)) ([]byte, error) {
	value, found, err := c.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	limit, err := c.a.Budget.reserve(ctx, place, most)
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
		c.away.Store(topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), MaxReason))
	}
	if cost, known := c.a.Prices.Cost(made.Usage); known {
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
func (c *Calls) replay(ctx context.Context, place string, _ topicqueue.Usage,
	do func(context.Context, int) (llm.Made, error)) ([]byte, error) {
	value, found, err := c.recall(ctx, place)
	if err != nil || found {
		return value, err
	}
	_, err = do(ctx, 0)
	return nil, err
}

// enter lets a call begin. End the call with gate.leave.
func (c *Calls) enter(ctx context.Context) error {
	if err := c.a.Wait(ctx); err != nil { // Redis is away: no call begins until it is back
		return err
	}
	if !c.a.gate.enter() {
		return c.stop(ctx)
	}
	return nil
}

// stop ends the attempt after its calls in flight have ended, so that they are not lost when the first call is refused.
func (c *Calls) stop(ctx context.Context) error {
	select {
	case <-c.a.gate.landed:
		c.a.cancel(c.a.gate.cause())
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// recall reads an entry of the journal.
func (c *Calls) recall(ctx context.Context, place string) (value []byte, found bool, err error) {
	err = steady.Do(ctx, "read the journal", func(ctx context.Context) error {
		value, found, err = c.a.Queue.Journaled(ctx, c.a.Lease, place)
		if err != nil || !found || value[0] != storedMark {
			return err
		}
		value, err = c.a.Store.Get(ctx, string(value[1:]))
		return err
	})
	return value, found, err
}

// recordTime is how long a paid answer and its cost wait for Redis if it is unavailable.
const recordTime = 2 * time.Minute

// record writes an entry to the journal, even if the attempt was told to end, because the answer is paid for and the
// next attempt will ask the same. value: nil if there is nothing to keep. usage: nil unless it is a model call.
func (c *Calls) record(ctx context.Context, place string, value []byte, usage *topicqueue.Usage) ([]byte, error) {
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	stop := context.AfterFunc(c.a.runner.work, func() { time.AfterFunc(c.a.runner.Grace, cancel) })
	defer stop() // a stopped worker ends this wait after its grace
	stands := value
	err := steady.Do(saveCtx, "write the journal", func(ctx context.Context) (err error) {
		entry := value
		if len(value) > maxEntry {
			sum := sha256.Sum256(value)
			name := storage.JournalPrefix(c.a.Run.ID) + hex.EncodeToString(sum[:]) + ".json"
			if err := c.a.Store.Put(ctx, name, value); err != nil {
				return err
			}
			entry = append([]byte{storedMark}, name...)
		}
		var there []byte
		if usage == nil {
			there, err = c.a.Queue.Journal(ctx, c.a.Lease, c.a.Epoch, place, entry)
		} else {
			cost, _ := c.a.Run.Options.Limit().Cost(*usage)
			there, err = c.a.Queue.Answered(ctx, c.a.Lease, c.a.Epoch, place, entry, *usage, cost)
		}
		if err != nil || len(there) == 0 {
			return err
		}
		if stands = there; there[0] == storedMark {
			stands, err = c.a.Store.Get(ctx, string(there[1:]))
		}
		return err
	})
	return stands, err
}

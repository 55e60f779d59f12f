package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// follower turns the events of one run into progress for a person.
type follower struct {
	a    *app
	bar  *bar // blocks; nil until they are planned
	done topicqueue.Progress
}

// outageTime is how long a run that is followed waits for a Redis that cannot be used.
const outageTime = 15 * time.Second

// follow shows a run's progress until its stream ends. A Redis that is away or takes no writes for outageTime is an
// error: nothing would ever come.
func (a *app) follow(ctx context.Context, q *redisqueue.Queue, runID string) error {
	f := &follower{a: a}
	defer f.end()
	healthy := time.Now()
	for seq := int64(0); ; {
		events, err := q.Events(ctx, runID, seq, time.Second)
		if err == nil && len(events) == 0 {
			err = q.Writable(ctx)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			healthy = time.Now()
		} else if time.Since(healthy) > outageTime {
			return hintError{fmt.Errorf("the queue cannot be used: %w", err),
				"What was found so far is kept. Bring Redis back, or make room on its disk, and start again."}
		} else {
			time.Sleep(100 * time.Millisecond) // an answer may come at once
			continue
		}
		for _, e := range events {
			seq = e.Seq
			if e.Status == topicqueue.StatusComplete {
				return nil
			}
			if err := f.show(e); err != nil {
				return err
			}
		}
	}
}

func (f *follower) end() {
	if f.bar != nil {
		f.bar.end()
		f.bar = nil
	}
}

func (f *follower) show(e topicqueue.Event) error {
	var err error
	switch e.Status {
	case topicqueue.StatusPipelineStep:
		var s topicqueue.PipelineStep
		if err = json.Unmarshal(e.Content, &s); err == nil {
			f.step(s)
		}
	case topicqueue.StatusResearchQuestions:
		var q topicqueue.ResearchQuestions
		if err = json.Unmarshal(e.Content, &q); err == nil {
			f.a.say("planned %d sub-topics: %s", len(q.Questions), strings.Join(q.Questions, "; "))
		}
	case topicqueue.StatusThought:
		var t topicqueue.Thought
		if err = json.Unmarshal(e.Content, &t); err == nil && f.bar != nil {
			f.bar.set(f.done.ProcessedTasks, f.done.TotalTask, t.Thought)
		}
	case topicqueue.StatusProgress:
		if err = json.Unmarshal(e.Content, &f.done); err == nil {
			if f.bar == nil {
				f.bar = f.a.newBar("topic blocks")
			}
			f.bar.set(f.done.ProcessedTasks, f.done.TotalTask, "")
		}
	}
	if err != nil {
		return errors.Join(errors.New("read the run's events"), err)
	}
	return nil
}

func (f *follower) step(s topicqueue.PipelineStep) {
	switch s.StepKey {
	case topicqueue.StepStartSearchBackground:
		f.a.say("planning")
	case topicqueue.StepStartAuthor:
		f.end()
		f.a.say("writing the report")
	case topicqueue.StepTaskFailed:
		f.a.say("a topic block failed: %s", s.Info)
	}
}

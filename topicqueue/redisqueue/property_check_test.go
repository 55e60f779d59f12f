package redisqueue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// check compares all visible data of the run with the reference.
func (w *world) check(ctx context.Context) error {
	for _, look := range []func(context.Context) error{w.checkRun, w.checkBlocks, w.checkKeys, w.checkJournal, w.checkStream} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func differ(what string, want, got any) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s differs (-reference +queue):\n%s", what, diff)
	}
	return nil
}

func (w *world) checkRun(ctx context.Context) error {
	run, err := w.queue.Run(ctx, w.run.ID)
	r := w.ref
	if !r.exists {
		if !errors.Is(err, redisqueue.ErrNotFound) {
			return fmt.Errorf("a run that is not there: %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	type seen struct {
		State                 topicqueue.RunState
		Reason, Report        string
		Sealed                bool
		Unpublished           string
		Paused, Published     bool
		Started, Ended        bool
		HasSeal, HasFinal     bool
		StartedAt, EndedAt    int64
		SealAt, FinalAt       int64
		HasReport, HasOptions bool
		Calls                 topicqueue.ToolCalls
		Limit, Spent, Set     int64
	}
	content, err := w.queue.Report(ctx, w.run.ID)
	if err != nil {
		return err
	}
	want := seen{
		State: r.state, Reason: r.reason, Report: r.report, Sealed: r.sealed != "", Unpublished: r.unpublished,
		Paused: r.paused, Published: r.published, Started: r.started > 0, Ended: r.ended > 0, HasSeal: r.seal > 0, HasFinal: r.final > 0,
		StartedAt: r.started, EndedAt: r.ended, SealAt: r.seal, FinalAt: r.final, HasReport: r.hasReport, HasOptions: true, Calls: r.calls,
		Limit: r.limitNow, Spent: r.spent, Set: r.setAside(),
	}
	got := seen{
		State: run.State, Reason: run.Reason, Report: run.Report, Sealed: run.Sealed != "", Unpublished: run.Unpublished,
		Paused: run.Paused, Published: !run.PublishedAt.IsZero(), Started: !run.StartedAt.IsZero(), Ended: !run.EndedAt.IsZero(),
		HasSeal: !run.SealAt.IsZero(), HasFinal: !run.FinalAt.IsZero(),
		HasReport: content != nil, HasOptions: cmp.Equal(run.Options, w.run.Options), Calls: run.ToolCalls["web_search"],
		Limit: run.Limit, Spent: run.Spent,
	}
	for _, amount := range w.rdb.HVals(ctx, w.key("calls")).Val() {
		n, err := strconv.ParseInt(amount, 10, 64)
		if err != nil {
			return err
		}
		got.Set += n
	}
	if r.reason == "*" && run.Reason != "" {
		got.Reason = "*"
	}
	if w.exact {
		millis := func(at interface{ UnixMilli() int64 }) int64 { return max(0, at.UnixMilli()) }
		got.StartedAt, got.EndedAt, got.SealAt, got.FinalAt = millis(run.StartedAt), millis(run.EndedAt), millis(run.SealAt), millis(run.FinalAt)
	} else {
		want.StartedAt, want.EndedAt, want.SealAt, want.FinalAt = 0, 0, 0, 0
	}
	return differ("the run", want, got)
}

func (w *world) checkBlocks(ctx context.Context) error {
	r := w.ref
	type seen struct {
		Title      string
		Status     topicqueue.BlockStatus
		Reason     string
		Iterations int
	}
	blocks, err := w.queue.Blocks(ctx, w.run.ID)
	if err != nil {
		return err
	}
	var want, got []seen
	for _, b := range r.blocks {
		want = append(want, seen{b.title, b.status, b.reason, b.iterations})
	}
	for i, b := range blocks {
		s := seen{b.Title, b.Status, b.Reason, b.Iterations}
		if i < len(want) && want[i].Reason == "*" && s.Reason != "" {
			s.Reason = "*"
		}
		got = append(got, s)
	}
	counts := map[string]int{redisqueue.UnitPlan: r.planTraces}
	for i, b := range r.blocks {
		counts[topicqueue.BlockID(i+1)] = b.traces
	}
	lengths := map[string]*redis.IntCmd{}
	if _, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for unit := range counts {
			lengths[unit] = p.LLen(ctx, w.key("traces:"+unit))
		}
		return nil
	}); err != nil {
		return err
	}
	for unit, n := range counts {
		if got := lengths[unit].Val(); got != int64(n) {
			return fmt.Errorf("%s has %d traces, want %d", unit, got, n)
		}
	}
	if err := differ("the blocks", want, got); err != nil {
		return err
	}
	returned := map[string][]string{}
	for i, b := range r.blocks {
		if len(b.returned) > 0 {
			returned[topicqueue.BlockID(i+1)] = b.returned
		}
	}
	if got, err := w.queue.Returned(ctx, w.run.ID); err != nil {
		return err
	} else if err := differ("what calls returned", returned, got); err != nil {
		return err
	}
	if usage, err := w.queue.Usage(ctx, w.run.ID); err != nil || len(usage) != r.usages {
		return fmt.Errorf("%d records of usage, want %d (%v)", len(usage), r.usages, err)
	}
	active, err := w.rdb.ZRange(ctx, w.key("active"), 0, -1).Result()
	if err != nil {
		return err
	}
	if len(active) > w.run.Options.MaxParallel {
		return fmt.Errorf("%v are in flight, at most %d may be", active, w.run.Options.MaxParallel)
	}
	waiting, err := w.rdb.LRange(ctx, w.key("todo"), 0, -1).Result()
	if err != nil {
		return err
	}
	names := func(numbers []int) []string {
		out := []string{}
		for _, n := range numbers {
			out = append(out, topicqueue.BlockID(n))
		}
		return out
	}
	if err := differ("what is in flight", names(r.active), append([]string{}, active...)); err != nil {
		return err
	}
	if err := differ("what waits", names(r.waiting), append([]string{}, waiting...)); err != nil {
		return err
	}
	if r.exists && r.ended > 0 {
		for i, b := range blocks {
			if !b.Status.Final() {
				return fmt.Errorf("the run has ended, block %d is %s", i+1, b.Status)
			}
		}
	}
	return nil
}

func (w *world) checkKeys(ctx context.Context) error {
	keys, err := w.rdb.Keys(ctx, "*").Result()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if familyOf(key) == nil {
			return fmt.Errorf("key %s is not documented", key)
		}
		if strings.HasPrefix(key, w.key("")) && !w.ref.exists {
			return fmt.Errorf("key %s of a run that is not there", key)
		}
	}
	ttls := make([]*redis.DurationCmd, len(keys))
	if _, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			ttls[i] = p.PTTL(ctx, key)
		}
		return nil
	}); err != nil {
		return err
	}
	for i, key := range keys {
		if expires := ttls[i].Val() > 0; strings.HasPrefix(key, w.key("")) && expires != w.ref.published {
			return fmt.Errorf("key %s expires: %v, the run is published: %v", key, expires, w.ref.published)
		}
	}
	for name, want := range map[string]bool{"plan": w.ref.hasPlan, "report": w.ref.hasReport} {
		if slices.Contains(keys, w.key(name)) != want {
			return fmt.Errorf("key %s is there: %v, want %v", w.key(name), !want, want)
		}
	}
	return nil
}

func (w *world) checkJournal(ctx context.Context) error {
	units := []string{redisqueue.UnitPlan, redisqueue.UnitReview, redisqueue.UnitReport, redisqueue.UnitNarrate}
	for n := range w.run.Options.QueueMaxLength + 8 {
		units = append(units, topicqueue.BlockID(n+1))
	}
	entries := map[string]*redis.MapStringStringCmd{}
	if _, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, unit := range units {
			entries[unit] = p.HGetAll(ctx, w.key("journal:"+unit))
		}
		return nil
	}); err != nil {
		return err
	}
	got := map[string]map[string]string{}
	for unit, cmd := range entries {
		if len(cmd.Val()) > 0 {
			got[unit] = cmd.Val()
		}
	}
	return differ("the journal", w.ref.journal, got)
}

// stream is the part of an epoch's stream seen by a watcher.
type stream struct {
	seq      int64
	epoch    int
	done     map[int]int
	progress *topicqueue.Progress
	last     []string // the statuses, in order
}

// checkStream reads the next events of the run and checks their order.
func (w *world) checkStream(ctx context.Context) error {
	r, s := w.ref, &w.stream
	if s.done == nil || s.epoch != r.epoch || !r.exists {
		seq := s.seq
		if !r.exists {
			seq = 0
		}
		*s = stream{seq: seq, epoch: r.epoch, done: map[int]int{}}
	}
	events, err := w.queue.Events(ctx, w.run.ID, s.seq, 0)
	if !r.exists && errors.Is(err, redisqueue.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Seq != s.seq+1 {
			return fmt.Errorf("event %d comes after event %d", e.Seq, s.seq)
		}
		s.seq = e.Seq
		switch e.Status {
		case topicqueue.StatusQuestionDone:
			var d topicqueue.QuestionDone
			if err := json.Unmarshal(e.Content, &d); err != nil {
				return err
			}
			s.done[d.QuestionID]++
			want := map[topicqueue.BlockStatus]string{topicqueue.BlockCompleted: "done", topicqueue.BlockFailed: "failed"}
			if b := r.block(topicqueue.BlockID(d.QuestionID)); b == nil || want[b.status] != d.Status {
				return fmt.Errorf("event %s of block %v", e.Content, b)
			}
		case topicqueue.StatusProgress:
			var p topicqueue.Progress
			if err := json.Unmarshal(e.Content, &p); err != nil {
				return err
			}
			if s.progress != nil && (p.ProcessedTasks < s.progress.ProcessedTasks || p.TotalTask < s.progress.TotalTask) || p.ProcessedTasks > p.TotalTask {
				return fmt.Errorf("progress %+v after %+v", p, s.progress)
			}
			s.progress = &p
		}
		if n := len(s.last); n > 0 && s.last[n-1] == topicqueue.StatusComplete {
			return fmt.Errorf("event %s comes after the end", e.Status)
		}
		s.last = append(s.last, e.Status)
	}
	if !r.exists {
		return nil
	}
	if err := differ("the blocks whose end was told", r.done, s.done); err != nil {
		return err
	}
	if r.told {
		if s.progress == nil {
			return errors.New("no progress was told")
		}
		if err := differ("progress", topicqueue.Progress{ProcessedTasks: r.processed, TotalTask: len(r.blocks)}, *s.progress); err != nil {
			return err
		}
	}
	n, ends := len(s.last), 0
	for _, status := range s.last {
		if status == topicqueue.StatusComplete || status == topicqueue.StatusSummaryStatistics {
			ends++
		}
	}
	switch {
	case r.ended == 0 && ends > 0:
		return fmt.Errorf("the stream of a run in work has its end: %v", s.last)
	case r.ended > 0 && (ends != 2 || s.last[n-1] != topicqueue.StatusComplete || s.last[n-2] != topicqueue.StatusSummaryStatistics):
		return fmt.Errorf("the stream of a run that has ended does not end with statistics and complete, once: %v", s.last)
	case r.ended > 0 && r.told && r.processed != len(r.blocks):
		return fmt.Errorf("the run has ended with %d of %d blocks processed", r.processed, len(r.blocks))
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/jobs"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
	"nightdesk/topicqueue/topiclist"
)

// newScheduler returns a scheduler that reads topics and options as this process is set.
func (a *app) newScheduler(ctx context.Context, d *desk) (*jobs.Scheduler, error) {
	store, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	return jobs.NewScheduler(jobs.SchedulerServices{
		Redis: d.redis, Queue: d.queue, Dispatcher: d.dispatcher, Store: store, Log: a.log, Now: time.Now,
		Read: func(ctx context.Context, spec schedule.Spec, due, now time.Time) (jobs.Snapshot, error) {
			return a.readFiring(ctx, d, spec, due, now)
		},
	}), nil
}

// readFiring reads what a schedule enqueues at a due time. now: when it is fired, which is later than due when it is
// caught up.
func (a *app) readFiring(ctx context.Context, d *desk, spec schedule.Spec, due, now time.Time) (s jobs.Snapshot, err error) {
	zone := scheduleZone(spec)
	if s.Topics, _, err = a.scheduledTopics(ctx, d, spec, due.In(zone)); err != nil {
		return s, err
	}
	if s.Lane, err = laneOf(spec.Priority); err != nil {
		return s, err
	}
	own, err := a.scheduled(spec)
	if err != nil {
		return s, err
	}
	if s.Options, err = own.options(ctx); err != nil {
		return s, withHint(err)
	}
	if s.Options.Deadline, err = deadlineAt(spec.Deadline, now.In(zone)); err != nil {
		return s, err
	}
	s.Options.KnowledgeVersion, err = own.publish(ctx, s.Options.KnowledgeBase)
	return s, err
}

// withHint puts the hint of an error into its text: it is read elsewhere than where it occurs.
func withHint(err error) error {
	var hint hintError
	if errors.As(err, &hint) {
		return fmt.Errorf("%w. %s", err, hint.hint)
	}
	return err
}

func scheduleZone(spec schedule.Spec) *time.Location {
	c, err := schedule.ParseCron(spec.Cron, spec.Zone)
	if err != nil {
		return time.UTC // it does not fire
	}
	return c.Zone()
}

// scheduled returns a copy of a with the settings of a schedule, read anew: what is changed in the settings file holds
// from the next firing on.
func (a *app) scheduled(spec schedule.Spec) (*app, error) {
	own := *a
	own.overrides, own.deadline = maps.Clone(a.overrides), ""
	for path, value := range map[string]string{
		"preset": spec.Preset, "language": spec.Language, "kb_name": spec.KnowledgeBase,
		"researching.strategy": spec.Strategy, "researching.sources": spec.Sources,
	} {
		if value != "" {
			own.overrides[path] = value
		}
	}
	var err error
	own.cfg, err = own.load()
	return &own, err
}

// scheduledTopics reads the topics of a schedule, each of them once, with its variables filled in. due: in the schedule's
// zone. unknown: words in braces that are none.
func (a *app) scheduledTopics(ctx context.Context, d *desk, spec schedule.Spec, due time.Time) (topics, unknown []string, err error) {
	source, err := a.openSource(ctx, d, spec.Topics)
	if err != nil {
		return nil, nil, err
	}
	defer source.Close()
	failed := func(err error) error { return fmt.Errorf("read topics from %s: %w", shownSource(spec.Topics), err) }
	rows, err := topiclist.NewReader(source, spec.Topics, "", nil)
	if err != nil {
		return nil, nil, failed(err)
	}
	seen := map[string]bool{}
	var problems []string
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if wrong := (*topiclist.RowError)(nil); errors.As(err, &wrong) {
			problems = append(problems, wrong.Error())
			continue
		}
		if err != nil {
			return nil, nil, failed(err)
		}
		if name := ownOption(row.Options); name != "" {
			problems = append(problems, fmt.Sprintf("line %d: the topics of a schedule share its options, and this one sets %s", row.Line, name))
			continue
		}
		topic, words := schedule.Fill(row.Topic, due)
		for _, word := range words {
			if !slices.Contains(unknown, word) {
				unknown = append(unknown, word)
			}
		}
		if err := jobs.CheckTopic(topic); err != nil {
			problems = append(problems, fmt.Sprintf("line %d: %v", row.Line, err))
			continue
		}
		if key := topicqueue.TopicKey(topic); !seen[key] {
			seen[key], topics = true, append(topics, topic)
		}
	}
	if len(problems) > 0 {
		const most = 5
		text := fmt.Sprintf("%d of the lines of %s cannot be enqueued: %s", len(problems), shownSource(spec.Topics), strings.Join(problems[:min(most, len(problems))], "; "))
		return nil, nil, errors.New(text)
	}
	if len(topics) == 0 {
		return nil, nil, fmt.Errorf("there is no topic in %s", shownSource(spec.Topics))
	}
	return topics, unknown, nil
}

// ownOption returns an option that a row sets for its topic alone; empty: none. Ids and tags are no options.
func ownOption(options map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if name != "id" && name != "tags" {
			return name
		}
	}
	return ""
}

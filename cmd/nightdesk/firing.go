package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/nights"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// newScheduler returns a scheduler that reads topics and options with the settings of this process.
func newScheduler(ctx context.Context, s *session, d *wiring.Desk) (*nights.Scheduler, error) {
	store, err := wiring.OpenWritableStore(ctx, s.cfg, s.Console)
	if err != nil {
		return nil, err
	}
	if _, _, err := wiring.Outlets(s.cfg, d); err != nil { // check only: workers send the notifications
		return nil, err
	}
	return nights.New(nights.Services{
		Redis: d.Redis, Queue: d.Queue, Dispatcher: d.Dispatcher, Store: store, Log: s.Log, Now: d.Clock.Now,
		Read: func(ctx context.Context, spec schedule.Spec, due, now time.Time) (nights.Snapshot, error) {
			return readFiring(ctx, s, d, spec, due, now)
		},
	}), nil
}

// readFiring reads what a schedule enqueues at a due time. now is the time of firing, which is later than due when the
// scheduler catches up.
func readFiring(ctx context.Context, s *session, d *wiring.Desk, spec schedule.Spec,
	due, now time.Time) (shot nights.Snapshot, err error) {
	cfg, flags, err := scheduledSettings(s, spec, now)
	if err != nil {
		return shot, err
	}
	quiet := s.with(cfg)
	quiet.Console = &view.Console{Out: io.Discard, Err: io.Discard, Log: s.Log} // only errors matter here
	list, err := scheduledList(ctx, quiet, d, spec, flags, due, now)
	if err != nil {
		return shot, withHint(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	if err := newBases(quiet).PublishAll(ctx, cfg.KBName, list); err != nil {
		return shot, withHint(err)
	}
	plan, err := intake.NewPlan(quiet.Console, list, intake.Keep)
	if err != nil {
		return shot, err
	}
	shot.Options = list.Options
	err = plan.Each(list, func(t intake.Topic) error {
		shot.Topics = append(shot.Topics, nights.Topic{Topic: t.Topic, Options: t.Options, Lane: t.Lane,
			Labels: topicqueue.Labels{Ref: t.Ref, Tags: t.Tags}, Deadline: t.Deadline})
		return nil
	})
	return shot, err
}

// withHint appends an error's hint to its text, for errors that are read away from the terminal.
func withHint(err error) error {
	if hint := view.HintOf(err); hint != "" {
		return fmt.Errorf("%w. %s", err, hint)
	}
	return err
}

func scheduleZone(spec schedule.Spec) *time.Location {
	c, err := schedule.ParseCron(spec.Cron, spec.Zone)
	if err != nil {
		return time.UTC // an invalid schedule never fires
	}
	return c.Zone()
}

// scheduledSettings loads the settings of a schedule. It reads the settings file again, so that changes take effect at
// the next firing.
func scheduledSettings(s *session, spec schedule.Spec, now time.Time) (cfg config.Config, f intake.Flags, err error) {
	f.Incremental = spec.Incremental
	own := map[string]string{}
	for path, value := range map[string]string{
		"preset": spec.Preset, "language": spec.Language, "kb_name": spec.KnowledgeBase,
		"researching.strategy": spec.Strategy, "researching.sources": spec.Sources, "limits.run_budget": spec.Budget,
		"reporting.template": spec.ReportTemplate, "reporting.audio": spec.Audio,
	} {
		if value != "" {
			own[path] = value
		}
	}
	if f.BatchBudget, err = topicqueue.ParseBudget(spec.BatchBudget); err != nil {
		return cfg, f, err
	}
	if spec.Deadline != "" {
		deadline, err := intake.DeadlineAt(spec.Deadline, now.In(scheduleZone(spec)))
		if err != nil {
			return cfg, f, err
		}
		f.Deadline = deadline.Format(time.RFC3339)
	}
	cfg, err = s.load(own)
	return cfg, f, err
}

// scheduledList reads and checks the topics of a schedule and fills in its variables.
func scheduledList(ctx context.Context, s *session, d *wiring.Desk, spec schedule.Spec,
	f intake.Flags, due, now time.Time) (*intake.List, error) {
	source, err := intake.OpenSource(ctx, s.cfg, d, spec.Topics)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	name := strings.TrimSuffix(intake.ShownSource(spec.Topics), "?[redacted]")
	text, err := io.ReadAll(io.LimitReader(source, intake.MaxList+1))
	if err != nil {
		return nil, fmt.Errorf("read topics from %s: %w", name, err)
	}
	if len(text) > intake.MaxList {
		return nil, fmt.Errorf("list of topics %s: more than %d bytes: split it between schedules", name, intake.MaxList)
	}
	zone := scheduleZone(spec)
	kb, _, err := newBases(s).Find(ctx, s.cfg.KBName)
	if err != nil {
		return nil, err
	}
	list, err := intake.Read(ctx, s.cfg, s.Console, bytes.NewReader(text), intake.Request{
		Flags: f, KB: kb, File: name, Priority: spec.Priority, Template: spec.Template,
		Variables: schedule.Values(due.In(zone)),
		Tags:      strings.Split(spec.Tags, ","), Now: now.In(zone),
	})
	if err != nil {
		return nil, err
	}
	if list.Problems.Count > 0 {
		err = fmt.Errorf("%d of the lines of %s cannot be enqueued:\n  %s", list.Problems.Count, name, list.Problems.Text())
	} else if len(list.Lines) == 0 {
		err = fmt.Errorf("there is no topic in %s: give one per line", name)
	}
	if err != nil {
		return nil, errors.Join(err, list.Close())
	}
	return list, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
	"nightdesk/topicqueue/schedule"
)

// Times of a scheduler: it also looks when something is due.
const (
	lookInterval  = 5 * time.Second
	boardInterval = 5 * time.Second
)

func (a *app) schedulerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "scheduler", Short: "Fire schedules until stopped",
		Long: `Fire schedules until stopped: those that "schedule add" made, and those of the settings file.
Any number of schedulers may run, on any machine: each due time is fired once.`,
		Args: cobra.NoArgs,
		RunE: a.serviceCommand(serviceScheduler, a.scheduler),
	}
}

func (a *app) scheduler(ctx context.Context) (err error) {
	d, err := a.openWorkingDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	s, err := a.newScheduler(ctx, d)
	if err != nil {
		return err
	}
	if err := a.declare(ctx, d); err != nil {
		return err
	}
	if err := s.Start(ctx, jobs.SchedulerSettings{LookInterval: lookInterval, Heartbeat: boardInterval}); err != nil {
		return err
	}
	a.log.Info().Msg("scheduler started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	s.Stop()
	a.log.Info().Msg("scheduler stopped")
	return nil
}

// declare stores the schedules of the settings file.
func (a *app) declare(ctx context.Context, d *desk) error {
	for _, spec := range a.cfg.Schedules {
		spec, err := a.normalSpec(spec)
		if err != nil {
			return fmt.Errorf("schedule %s of the settings file: %w", spec.Name, err)
		}
		if _, err := putSchedule(ctx, d, spec, true); err != nil {
			return err
		}
	}
	records, err := d.queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Declared && !slices.ContainsFunc(a.cfg.Schedules, func(s schedule.Spec) bool { return s.Name == r.Name }) {
			a.log.Warn().Str("schedule",
				r.Name).Msg("schedule was declared in a settings file, and is not in this one; it goes on until `nightdesk " +
				"schedule remove`")
		}
	}
	return nil
}

// What putSchedule did.
const (
	scheduleAdded     = "added"
	scheduleChanged   = "changed"
	scheduleUnchanged = "unchanged"
)

// putSchedule adds a schedule or gives the one of its name this spec; what has become of it stays.
func putSchedule(ctx context.Context, d *desk, spec schedule.Spec, declared bool) (did string, err error) {
	now := d.clock.Now()
	r := schedule.New(spec, now)
	r.Declared = declared
	if added, err := d.queue.AddSchedule(ctx, r); err != nil || added {
		return scheduleAdded, err
	}
	_, err = d.queue.ChangeSchedule(ctx, spec.Name, func(r *schedule.Record) error {
		did = scheduleChanged
		if r.Spec == spec {
			did = scheduleUnchanged
		}
		r.Respec(spec, now)
		r.Declared = declared
		return nil
	})
	return did, err
}

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/nights"
	"nightdesk/topicqueue/schedule"
)

// Intervals of a scheduler. It also looks at every due time.
const (
	lookInterval  = 5 * time.Second
	boardInterval = 5 * time.Second
)

func schedulerCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "scheduler", Short: "Fire schedules until stopped",
		Long: `Fire schedules until stopped: those added with "schedule add" and those of the settings file. You
can run any number of schedulers, on any machines. Each due time fires once.`,
		Args: cobra.NoArgs,
		RunE: p.serviceCommand(serviceScheduler, func(ctx context.Context, s *session, _ []string) error {
			return s.withWorkingDesk(ctx, false, func(d *wiring.Desk) error { return fireSchedules(ctx, s, d) })
		}),
	}
}

// fireSchedules fires the schedules until ctx ends.
func fireSchedules(ctx context.Context, s *session, d *wiring.Desk) error {
	scheduler, err := newScheduler(ctx, s, d)
	if err != nil {
		return err
	}
	if err := declare(ctx, s, d); err != nil {
		return err
	}
	if err := scheduler.Start(ctx, nights.Settings{LookInterval: lookInterval, Heartbeat: boardInterval}); err != nil {
		return err
	}
	s.Log.Info().Msg("scheduler started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	scheduler.Stop()
	s.Log.Info().Msg("scheduler stopped")
	return nil
}

// declare stores the schedules of the settings file.
func declare(ctx context.Context, s *session, d *wiring.Desk) error {
	for _, spec := range s.cfg.Schedules {
		spec, err := normalSpec(spec, wiring.KnowledgeDir(s.cfg))
		if err != nil {
			return fmt.Errorf("schedule %s of the settings file: %w", spec.Name, err)
		}
		if _, err := putSchedule(ctx, d, spec, true); err != nil {
			return err
		}
	}
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Declared && !slices.ContainsFunc(s.cfg.Schedules, func(s schedule.Spec) bool { return s.Name == r.Name }) {
			s.Log.Warn().Str("schedule",
				r.Name).Msg("schedule comes from a settings file but is not in this one; it continues until " +
				"`nightdesk schedule remove`")
		}
	}
	return nil
}

// Results of putSchedule.
const (
	scheduleAdded     = "added"
	scheduleChanged   = "changed"
	scheduleUnchanged = "unchanged"
)

// putSchedule adds a schedule, or updates the spec of the existing one and keeps its history.
func putSchedule(ctx context.Context, d *wiring.Desk, spec schedule.Spec, declared bool) (did string, err error) {
	now := d.Clock.Now()
	r := schedule.New(spec, now)
	r.Declared = declared
	if added, err := d.Queue.AddSchedule(ctx, r); err != nil || added {
		return scheduleAdded, err
	}
	_, err = d.Queue.ChangeSchedule(ctx, spec.Name, func(r *schedule.Record) error {
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

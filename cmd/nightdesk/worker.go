package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
)

func (a *app) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Work the queue until stopped",
		Args:  cobra.NoArgs,
		RunE:  a.serviceCommand(serviceWorker, a.work),
	}
	a.settingFlag(cmd, false, "concurrency", "worker.concurrency", "number of tasks to run in parallel")
	return cmd
}

func (a *app) work(ctx context.Context) (err error) {
	a.fitSlots()
	d, err := a.openWorkingDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	services, err := a.services(ctx, d)
	if err != nil {
		return err
	}
	if services.Webhooks, services.Mail, err = a.outlets(d); err != nil {
		return err
	}
	for _, e := range a.cfg.Effective() {
		if a.cfg.Given(e.Path) {
			a.log.Info().Str("setting", e.Path).Str("value", e.Value).Str("source", e.Source).Msg("effective setting")
		}
	}
	w := jobs.NewWorker(services, a.workerSettings(jobs.LaneHigh, "", jobs.LaneLow))
	if err := w.Start(ctx); err != nil {
		return err
	}
	a.log.Info().Int("concurrency", a.cfg.Worker.Concurrency).Msg("worker started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	a.log.Info().Msg("worker is stopping: finishing work in progress or handing it to other workers")
	w.Stop()
	a.log.Info().Msg("worker stopped")
	return nil
}

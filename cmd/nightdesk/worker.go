package main

import (
	"context"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
)

func workerCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Process the queue until stopped",
		Args:  cobra.NoArgs,
		RunE:  p.serviceCommand(serviceWorker, runWorker),
	}
	p.concurrencyFlag(cmd)
	return cmd
}

func runWorker(ctx context.Context, s *session, _ []string) error {
	return s.withDesk(ctx, desk.OpenWorking, func(d *desk.Desk) error { return workQueue(ctx, s, d.Desk) })
}

// workQueue processes the queue until ctx ends.
func workQueue(ctx context.Context, s *session, d *wiring.Desk) error {
	services, err := wiring.NewServices(ctx, s.Config, s.Console, d)
	if err != nil {
		return err
	}
	if services.Webhooks, services.Mail, err = wiring.Outlets(s.Config, d); err != nil {
		return err
	}
	for _, e := range s.Config.Effective() {
		if s.Config.Given(e.Path) {
			s.Log.Info().Str("setting", e.Path).Str("value", e.Value).Str("source", e.Source).Msg("effective setting")
		}
	}
	w := jobs.NewWorker(services, wiring.WorkerSettings(s.Config, tasks.LaneHigh, "", tasks.LaneLow))
	if err := w.Start(ctx); err != nil {
		return err
	}
	s.Log.Info().Int("concurrency", s.Config.Worker.Concurrency).Msg("worker started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	s.Log.Info().Msg("worker is stopping: finishing work in progress or handing it to other workers")
	w.Stop()
	s.Log.Info().Msg("worker stopped")
	return nil
}

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
)

func workerCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Process the queue until stopped",
		Args:  cobra.NoArgs,
		RunE:  p.serviceCommand(serviceWorker, runWorker),
	}
	p.settingFlag(cmd, false, "concurrency", "worker.concurrency", "number of tasks to run in parallel")
	return cmd
}

func runWorker(ctx context.Context, cfg config.Config, con *view.Console, _ []string) (err error) {
	wiring.FitSlots(con, &cfg.Worker)
	d, err := wiring.OpenWorkingDesk(ctx, cfg, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return workQueue(ctx, cfg, con, d)
}

// workQueue processes the queue until ctx ends.
func workQueue(ctx context.Context, cfg config.Config, con *view.Console, d *wiring.Desk) error {
	services, err := wiring.NewServices(ctx, cfg, con, d, wiring.NewEmbedding(cfg))
	if err != nil {
		return err
	}
	if services.Webhooks, services.Mail, err = wiring.Outlets(cfg, d); err != nil {
		return err
	}
	for _, e := range cfg.Effective() {
		if cfg.Given(e.Path) {
			con.Log.Info().Str("setting", e.Path).Str("value", e.Value).Str("source", e.Source).Msg("effective setting")
		}
	}
	w := jobs.NewWorker(services, wiring.WorkerSettings(cfg, jobs.LaneHigh, "", jobs.LaneLow))
	if err := w.Start(ctx); err != nil {
		return err
	}
	con.Log.Info().Int("concurrency", cfg.Worker.Concurrency).Msg("worker started; stop it with Ctrl-C or SIGTERM")
	<-ctx.Done()
	con.Log.Info().Msg("worker is stopping: finishing work in progress or handing it to other workers")
	w.Stop()
	con.Log.Info().Msg("worker stopped")
	return nil
}

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"nightdesk/cmd/nightdesk/desk"
)

func upCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run worker, scheduler and pages in one process",
		Long: `Run a worker, a scheduler and the pages of serve in one process until stopped.

Without REDIS_URL it starts a private redis-server in the data directory. Other commands with the
same data directory use it too. If redis-server is not installed, the queue is kept in the memory of
this process. Then add topics through the API; topics still waiting when the process stops are lost.`,
		Args: cobra.NoArgs,
		RunE: p.serviceCommand(serviceAll, runAll),
	}
	p.concurrencyFlag(cmd)
	p.listenFlag(cmd)
	return cmd
}

// runAll runs a worker, a scheduler and the pages until ctx ends. If one part fails, it stops the others.
func runAll(ctx context.Context, s *session, _ []string) (err error) {
	listener, err := listen(s.Config)
	if err != nil {
		return err
	}
	d, err := desk.OpenOwn(ctx, s.Settings)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveDesk(ctx, s, d, listener) })
	group.Go(func() error { return workQueue(ctx, s, d.Desk) })
	group.Go(func() error { return d.Schedules().Run(ctx) })
	return group.Wait()
}

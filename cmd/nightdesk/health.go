package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
)

func healthCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "health worker|scheduler",
		Short: "Check that a worker or a scheduler of this machine is alive, for health checks of containers",
		Long: `Check that a worker or scheduler on this machine (or in this container) has sent Redis a heartbeat
within the last ten seconds. Exit codes: 0 alive, 1 not alive or Redis does not answer.`,
		Args: cobra.ExactArgs(1), ValidArgs: []string{serviceWorker, serviceScheduler},
		RunE: p.command(checkHealth),
	}
}

func checkHealth(ctx context.Context, s *session, args []string) error {
	service := args[0]
	if !slices.Contains([]string{serviceWorker, serviceScheduler}, service) {
		return view.Usage(fmt.Errorf("health %s: check worker or scheduler; `serve` has /healthz", service))
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	var processes, tasks int
	err = s.withDesk(ctx, desk.OpenQueue, func(d *desk.Desk) (err error) {
		processes, tasks, err = d.Dispatcher.Alive(host, service == serviceScheduler)
		return err
	})
	if err != nil {
		return err
	}
	if s.JSON || processes > 0 {
		err = s.Row(map[string]any{"service": service, "host": host, "processes": processes, "tasks": tasks},
			"%s %s: alive, %s in progress\n", service, host, view.Counted(tasks, "task"))
	}
	if processes == 0 {
		return view.Ended(view.Hint(fmt.Errorf("no %s of host %s is alive", service, host), "Start `nightdesk "+service+
			"` here, or look at its log."), view.ExitFailed)
	}
	return err
}

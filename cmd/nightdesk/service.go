package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// Names of the commands that run until they are stopped.
const (
	serviceWorker    = "worker"
	serviceScheduler = "scheduler"
	servicePages     = "serve"
	serviceAll       = "up"
)

// serviceCommand wraps a command that runs until it is stopped: it waits for Redis and storage at its start, and what
// it says to people are lines of its log, with the names of host and process.
func (p *program) serviceCommand(name string, do work) func(*cobra.Command, []string) error {
	run := p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
		err := do(ctx, cfg, con, args)
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) { // stopped while it waited
			con.Log.Info().Msg(name + " stopped")
			return nil
		}
		return err
	})
	return func(cmd *cobra.Command, args []string) error {
		p.Service = name
		return run(cmd, args)
	}
}

// serviceName is the name of this process among others: host and process id, as asynq shows them.
func serviceName() (host, name string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host, fmt.Sprintf("%s:%d", host, os.Getpid())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// Names of the commands that run until they are stopped.
const (
	serviceWorker    = "worker"
	serviceScheduler = "scheduler"
	servicePages     = "serve"
	serviceAll       = "up"
)

// serviceCommand wraps a command that runs until it is stopped. Such a command waits for Redis and storage at startup,
// and its messages go to the log with the host and process name.
func (p *program) serviceCommand(name string, do work) func(*cobra.Command, []string) error {
	run := p.command(func(ctx context.Context, s *session, args []string) error {
		err := do(ctx, s, args)
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) { // stopped while waiting
			s.Log.Info().Msg(name + " stopped")
			return nil
		}
		return err
	})
	return func(cmd *cobra.Command, args []string) error {
		p.Service = name
		return run(cmd, args)
	}
}

func (p *program) concurrencyFlag(cmd *cobra.Command) {
	p.settingFlag(cmd.Flags(), "concurrency", "worker.concurrency", "number of tasks to run in parallel")
}

func (p *program) listenFlag(cmd *cobra.Command) {
	p.settingFlag(cmd.Flags(), "listen", "serve.listen", "host:port to listen on (default 127.0.0.1:8080)")
}

// serviceName returns the host name and the name of this process, host:pid, as asynq shows it.
func serviceName() (host, name string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host, fmt.Sprintf("%s:%d", host, os.Getpid())
}

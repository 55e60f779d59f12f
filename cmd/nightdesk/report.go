package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/storage"
)

func (a *app) reportCommand() *cobra.Command {
	var path, link bool
	var lifetime time.Duration
	cmd := &cobra.Command{
		Use: "report RUN|BATCH", Short: "Print the report of a run, or the digest of a batch", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), args[0], path, link, lifetime)
		}),
	}
	cmd.Flags().BoolVar(&path, "path", false, "print where the report is, not its text")
	cmd.Flags().BoolVar(&link, "link", false, "print a link that opens the report without credentials (S3 storage)")
	cmd.Flags().DurationVar(&lifetime, "lifetime", 24*time.Hour, "how long the link holds, at most 168h")
	return cmd
}

// report reads from storage alone: it works without a queue, and long after the run has left it.
func (a *app) report(ctx context.Context, runID string, path, link bool, lifetime time.Duration) error {
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	key := storage.ReportKey(runID)
	body, err := store.Get(ctx, key)
	if errors.Is(err, storage.ErrNotExist) && !isRunID(runID) && !link {
		return a.digest(ctx, runID, path)
	}
	if errors.Is(err, storage.ErrNotExist) {
		return usageError{hintError{fmt.Errorf("there is no report of run %q in %s", runID, store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them."}}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]string{"run_id": runID, "report": store.Location(key), "markdown": string(body)}, false)
	}
	if link {
		linker, ok := store.(storage.Linker)
		if !ok {
			return usageError{hintError{errors.New("a directory has no links that others could open"), "Set STORAGE_URL=s3://bucket/prefix, or print the path with --path."}}
		}
		url, err := linker.Link(ctx, key, lifetime)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, url)
		return nil
	}
	if path {
		fmt.Fprintln(a.stdout, store.Location(key))
		return nil
	}
	_, err = a.stdout.Write(body)
	return err
}

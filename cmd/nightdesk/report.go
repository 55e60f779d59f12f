package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/storage"
)

func (a *app) reportCommand() *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use: "report RUN", Short: "Print the report of a run", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error { return a.report(cmd.Context(), args[0], path) }),
	}
	cmd.Flags().BoolVar(&path, "path", false, "print where the report is, not its text")
	return cmd
}

// report reads from storage alone: it works without a queue, and long after the run has left it.
func (a *app) report(ctx context.Context, runID string, path bool) error {
	store := a.openStore()
	key := storage.ReportKey(runID)
	body, err := store.Get(ctx, key)
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
	if path {
		fmt.Fprintln(a.stdout, store.Location(key))
		return nil
	}
	_, err = a.stdout.Write(body)
	return err
}

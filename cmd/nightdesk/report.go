package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
)

func (a *app) reportCommand() *cobra.Command {
	var path, link bool
	var format string
	var lifetime time.Duration
	cmd := &cobra.Command{
		Use: "report RUN|BATCH", Short: "Print the report of a run, or the digest of a batch", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), args[0], format, path, link, lifetime)
		}),
	}
	cmd.Flags().StringVar(&format, "format", "md", "md, html or docx, of those that the run has made (reporting.formats)")
	cmd.Flags().BoolVar(&path, "path", false, "print where the report is, not its text")
	cmd.Flags().BoolVar(&link, "link", false, "print a link that opens the report without credentials (S3 storage)")
	cmd.Flags().DurationVar(&lifetime, "lifetime", 24*time.Hour, "how long the link holds, at most 168h")
	return cmd
}

// report reads from storage alone: it works without a queue, and long after the run has left it.
func (a *app) report(ctx context.Context, name, format string, path, link bool, lifetime time.Duration) error {
	if format != "md" && !slices.Contains(formats.Names(), format) {
		return usageError{fmt.Errorf("--format %s: it is md, %s", format, strings.Join(formats.Names(), " or "))}
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	runID, err := a.fullID(ctx, nil, name)
	if err != nil {
		return err
	}
	key := storage.FormatKey(runID, format)
	body, err := store.Get(ctx, key)
	if errors.Is(err, storage.ErrNotExist) && !isRunID(runID) && !link && format == "md" {
		err := a.digest(ctx, runID, path)
		if errors.As(err, new(noBatchError)) {
			return usageError{hintError{fmt.Errorf("there is no run and no batch %q", runID), "`nightdesk list` shows what there is."}}
		}
		return err
	}
	if errors.Is(err, storage.ErrNotExist) && format != "md" {
		return usageError{hintError{fmt.Errorf("there is no report of run %q as %s in %s", runID, format, store.Location("reports")),
			"The setting reporting.formats says which are made beside Markdown; " + storage.MetadataKey(runID) + " says why one was not.\n`nightdesk replay RUN --format " + format + " --out FILE` makes it of the stored evidence."}}
	}
	if errors.Is(err, storage.ErrNotExist) {
		return usageError{hintError{fmt.Errorf("there is no report of run %q in %s", runID, store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them."}}
	}
	if err != nil {
		return err
	}
	if a.json {
		out := map[string]string{"run_id": runID, "report": store.Location(key)}
		switch format {
		case "md":
			out["markdown"] = string(body)
		case formats.NameHTML:
			out["html"] = string(body)
		}
		return a.printJSON(out, false)
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
	if format == formats.NameDOCX && isTerminal(a.stdout) {
		return usageError{hintError{errors.New("a document is nothing to read in a terminal"), "Write it to a file: nightdesk report " + runID + " --format docx > report.docx; or see where it is with --path."}}
	}
	_, err = a.stdout.Write(body)
	return err
}

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

// reportFlags say how a report or a digest is handed out.
type reportFlags struct {
	format     string
	path, link bool
	lifetime   time.Duration // of the link
}

// linkFlags adds the flags for where a report or a digest is.
func (f *reportFlags) linkFlags(cmd *cobra.Command, thing string) {
	cmd.Flags().BoolVar(&f.path, "path", false, "print where the "+thing+" is, not its text")
	cmd.Flags().BoolVar(&f.link, "link", false, "print a link that opens the "+thing+" without credentials (S3 storage)")
	cmd.Flags().DurationVar(&f.lifetime, "lifetime", 24*time.Hour, "how long the link holds, at most 168h")
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report RUN|BATCH", Short: "Print the report of a run, or the digest of a batch", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error { return a.report(cmd.Context(), args[0], f) }),
	}
	cmd.Flags().StringVar(&f.format, "format", "md",
		"md, html or docx, of those that the run has made (reporting.formats)")
	f.linkFlags(cmd, "report")
	return cmd
}

// report reads from storage alone: it works without a queue, and long after the run has left it.
func (a *app) report(ctx context.Context, name string, f reportFlags) error {
	format := f.format
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
	digestHasIt := format == "md" || format == formats.NameHTML && f.link
	if errors.Is(err, storage.ErrNotExist) && !isRunID(runID) && digestHasIt {
		err := a.digest(ctx, runID, f)
		if errors.As(err, new(noBatchError)) {
			return usageError{hintError{fmt.Errorf("there is no run and no batch %q", runID),
				"`nightdesk list` shows what there is."}}
		}
		return err
	}
	if errors.Is(err, storage.ErrNotExist) && format != "md" {
		return usageError{hintError{fmt.Errorf("there is no report of run %q as %s in %s", runID, format,
			store.Location("reports")),
			"The setting reporting.formats says which are made beside Markdown; " + storage.MetadataKey(runID) +
				" says why one was not.\n`nightdesk replay RUN --format " + format +
				" --out FILE` makes it of the stored evidence."}}
	}
	if errors.Is(err, storage.ErrNotExist) {
		return usageError{hintError{fmt.Errorf("there is no report of run %q in %s", runID, store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them."}}
	}
	if err != nil {
		return err
	}
	if f.link {
		return a.printLink(ctx, store, key, f.lifetime)
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
	if f.path {
		fmt.Fprintln(a.stdout, store.Location(key))
		return nil
	}
	if format == formats.NameDOCX && isTerminal(a.stdout) {
		return usageError{hintError{errors.New("a document is nothing to read in a terminal"),
			"Write it to a file: nightdesk report " + runID + " --format docx > report.docx; or see where it is with --path."}}
	}
	_, err = a.stdout.Write(body)
	return err
}

// printLink prints a link to an artefact that opens without credentials, as do the links of a page to other pages.
func (a *app) printLink(ctx context.Context, store storage.Store, key string, lifetime time.Duration) error {
	s, err := newSharer(ctx, store, lifetime)
	if err != nil {
		return err
	}
	const depth = 2 // a digest, and its reports
	link, err := s.link(ctx, key, depth)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]string{"link": link}, false)
	}
	fmt.Fprintln(a.stdout, link)
	return nil
}

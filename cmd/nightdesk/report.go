package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
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

func reportCommand(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report RUN|BATCH", Short: "Print the report of a run, or the digest of a batch", Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return printReport(ctx, cfg, con, args[0], f)
		}),
	}
	cmd.Flags().StringVar(&f.format, "format", "md",
		"md, html or docx, of those that the run has made (reporting.formats)")
	f.linkFlags(cmd, "report")
	return cmd
}

// printReport reads from storage alone: it works without a queue, and long after the run has left it.
func printReport(ctx context.Context, cfg config.Config, con *view.Console, name string, f reportFlags) error {
	format := f.format
	if format != "md" && !slices.Contains(formats.Names(), format) {
		return view.Usage(fmt.Errorf("--format %s: it is md, %s", format, strings.Join(formats.Names(), " or ")))
	}
	store, err := wiring.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	runID, err := fullID(ctx, cfg, nil, name)
	if err != nil {
		return err
	}
	key := storage.FormatKey(runID, format)
	body, err := store.Get(ctx, key)
	digestHasIt := format == "md" || format == formats.NameHTML && f.link
	if errors.Is(err, storage.ErrNotExist) && !isRunID(runID) && digestHasIt {
		err := printDigest(ctx, cfg, con, runID, f)
		if errors.As(err, new(noBatchError)) {
			return view.Usage(view.Hint(fmt.Errorf("there is no run and no batch %q", runID),
				"`nightdesk list` shows what there is."))
		}
		return err
	}
	if errors.Is(err, storage.ErrNotExist) && format != "md" {
		return view.Usage(view.Hint(fmt.Errorf("there is no report of run %q as %s in %s", runID, format,
			store.Location("reports")),
			"The setting reporting.formats says which are made beside Markdown; "+storage.MetadataKey(runID)+
				" says why one was not.\n`nightdesk replay RUN --format "+format+
				" --out FILE` makes it of the stored evidence."))
	}
	if errors.Is(err, storage.ErrNotExist) {
		return view.Usage(view.Hint(fmt.Errorf("there is no report of run %q in %s", runID, store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them."))
	}
	if err != nil {
		return err
	}
	if f.link {
		return printLink(ctx, con, store, key, f.lifetime)
	}
	if con.JSON {
		out := map[string]string{"run_id": runID, "report": store.Location(key)}
		switch format {
		case "md":
			out["markdown"] = string(body)
		case formats.NameHTML:
			out["html"] = string(body)
		}
		return con.PrintJSON(out, false)
	}
	if f.path {
		fmt.Fprintln(con.Out, store.Location(key))
		return nil
	}
	if format == formats.NameDOCX && view.IsTerminal(con.Out) {
		return view.Usage(view.Hint(errors.New("a document is nothing to read in a terminal"),
			"Write it to a file: nightdesk report "+runID+" --format docx > report.docx; or see where it is with --path."))
	}
	_, err = con.Out.Write(body)
	return err
}

// printLink prints a link to an artefact that opens without credentials, as do the links of a page to other pages.
func printLink(ctx context.Context, con *view.Console, store storage.Store, key string, lifetime time.Duration) error {
	s, err := newSharer(ctx, store, lifetime)
	if err != nil {
		return err
	}
	const depth = 2 // a digest, and its reports
	link, err := s.link(ctx, key, depth)
	if err != nil {
		return err
	}
	if con.JSON {
		return con.PrintJSON(map[string]string{"link": link}, false)
	}
	fmt.Fprintln(con.Out, link)
	return nil
}

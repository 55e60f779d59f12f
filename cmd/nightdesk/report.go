package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
)

// deepResearchBench is the format of desk.Article.
const deepResearchBench = "deep-research-bench"

// reportFlags control how a report or a digest is delivered.
type reportFlags struct {
	format string
	path   bool
}

func (f *reportFlags) pathFlag(cmd *cobra.Command, thing string) {
	cmd.Flags().BoolVar(&f.path, "path", false, "print where the "+thing+" is instead of its text")
}

func reportCommand(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report RUN", Short: "Print the report of a run", Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return printReport(ctx, s, args[0], f)
		}),
	}
	cmd.Flags().StringVar(&f.format, "format", reports.Markdown,
		"md, html or docx, of those that the run has made (reporting.formats); pdf: "+
			"made with a browser or LibreOffice; audio: as it is read aloud; vtt: the transcript of that; bib, ris or "+
			"csl: its sources; "+deepResearchBench+": all reports of a batch, for that benchmark")
	f.pathFlag(cmd, "report")
	return cmd
}

// printReport prints a report from storage, or those of a batch for a benchmark.
func printReport(ctx context.Context, s *session, name string, f reportFlags) error {
	if known := append(reports.Formats(), deepResearchBench); !slices.Contains(known, f.format) {
		return view.Usage(fmt.Errorf("--format %s: it is %s", f.format, view.Either(known...)))
	}
	return s.withRun(ctx, name, func(d *desk.Desk, runID string) error {
		if f.format == deepResearchBench {
			missing, err := d.Articles(ctx, runID, func(a desk.Article) error { return s.PrintJSON(a, true) })
			if err == nil && missing > 0 {
				err = view.Ended(fmt.Errorf("%s without a report left out", view.Counted(missing, "run")), view.ExitPartial)
			}
			return err
		}
		return reportOf(ctx, s, d, runID, f)
	})
}

// reportOf prints the report of a run.
func reportOf(ctx context.Context, s *session, d *desk.Desk, runID string, f reportFlags) error {
	file, err := d.Reports().Report(ctx, runID, f.format)
	if err != nil {
		return err
	}
	doc := map[string]string{"run_id": runID}
	location := d.Store.Location(file.Key)
	switch f.format {
	case reports.Audio, reports.Transcript:
		doc[f.format] = location
	case reports.Markdown:
		doc["report"], doc["markdown"] = location, string(file.Body)
	case formats.NameHTML:
		doc["report"], doc["html"] = location, string(file.Body)
	default:
		doc["report"] = location
	}
	return printFile(s.Console, d.Store, file, f, doc)
}

// printFile prints a file or its location. doc is the document of --json.
func printFile(con *view.Console, store storage.Store, file reports.File, f reportFlags,
	doc any) error {
	elsewhere := f.path || con.JSON
	toFile := fmt.Sprintf("Write it to a file: nightdesk report %s --format %s > %s", file.RunID, file.Format, file.Name)
	switch {
	case elsewhere && file.Key == "":
		return view.Usage(view.Hint(fmt.Errorf("--format %s is made when you ask for it: it has no --path or --json",
			file.Format), toFile))
	case con.JSON && !(f.path && file.RunID == ""): // the path of a digest is a plain line
		return con.PrintJSON(doc, false)
	case f.path:
		_, err := fmt.Fprintln(con.Out, store.Location(file.Key))
		return err
	case !file.Text() && view.IsTerminal(con.Out):
		return view.Usage(view.Hint(fmt.Errorf("%s cannot be shown in a terminal", file.Format), toFile))
	}
	_, err := con.Out.Write(file.Body)
	return err
}

func digestCommand(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "digest BATCH", Short: "Print the digest of a batch: failures, changes, contradictions, cost",
		Args: cobra.ExactArgs(1),
		Long: `Print the digest of a batch, most important items first. When a batch has ended, its digest is in
storage as Markdown, HTML and JSON. While it is running, the digest so far is printed but not
stored.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return s.withDesk(ctx, desk.OpenStored, func(d *desk.Desk) error { return printDigest(ctx, s, d, args[0], f) })
		}),
	}
	f.pathFlag(cmd, "page of the digest")
	return cmd
}

// printDigest prints the stored digest, which works without a queue. If there is none, it prints the digest so far.
func printDigest(ctx context.Context, s *session, stored *desk.Desk, batch string, f reportFlags) error {
	if err := desk.CheckBatchName(batch); err != nil {
		return err
	}
	store := stored.Store
	d, final, err := stored.Reports().Digest(ctx, batch)
	missing := view.KindOf(err) == view.Missing
	if missing && f.path {
		return view.NotFound(fmt.Errorf("there is no digest of batch %s in %s", batch, store.Location("batches")),
			"It is written when the last run of the batch ends. Without --path, the digest so far is printed.")
	}
	if missing {
		opened := s.withDesk(ctx, desk.OpenQueue, func(whole *desk.Desk) error {
			d, final, err = whole.Reports().Digest(ctx, batch)
			return err
		})
		if opened != nil && !wiring.IsNoQueue(opened) {
			return opened
		}
	}
	if err != nil {
		return err
	}
	if !final {
		s.Say("the final digest is not written yet; this is the digest so far")
	}
	page := reports.File{Format: reports.Markdown, Key: storage.DigestKey(batch, "html"), Body: d.Markdown(store.Location)}
	return printFile(s.Console, store, page, f, d)
}

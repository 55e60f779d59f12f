package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/links"
	"nightdesk/cmd/nightdesk/lookup"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation/bibliography"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/storage"
)

// reportFlags control how a report or a digest is delivered.
type reportFlags struct {
	format     string
	path, link bool
	lifetime   time.Duration // of the link
}

// linkFlags adds the flags that print a lookup.Location instead of the text.
func (f *reportFlags) linkFlags(cmd *cobra.Command, thing string) {
	cmd.Flags().BoolVar(&f.path, "path", false, "print where the "+thing+" is instead of its text")
	cmd.Flags().BoolVar(&f.link, "link", false, "print a link that opens the "+thing+" without credentials (S3 storage)")
	cmd.Flags().DurationVar(&f.lifetime, "lifetime", 24*time.Hour, "how long the link is valid, at most 168h")
}

func reportCommand(p *program) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report RUN|BATCH", Short: "Print the report of a run, or the digest of a batch", Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return printReport(ctx, s, args[0], f)
		}),
	}
	cmd.Flags().StringVar(&f.format, "format", "md",
		"md, html or docx, of those that the run has made (reporting.formats); pdf: "+
			"made with a browser or LibreOffice; audio: as it is read aloud; vtt: the transcript of that; bib, ris or "+
			"csl: its sources; "+deepResearchBench+": all reports of a batch, for that benchmark")
	f.linkFlags(cmd, "report")
	return cmd
}

// printReport prints a report from storage. It works without a queue, even after the run's state has expired.
func printReport(ctx context.Context, s *session, name string, f reportFlags) error {
	format, onDemand := f.format, f.format == "pdf" || slices.Contains(bibliography.Names(), f.format)
	known := slices.Concat([]string{"md", deepResearchBench}, formats.Names(), spokenFormats)
	if !onDemand && !slices.Contains(known, format) {
		return view.Usage(fmt.Errorf("--format %s: it is md, %s or pdf; %s; %s for the sources alone; or "+deepResearchBench,
			format, strings.Join(formats.Names(), ", "), strings.Join(spokenFormats, " or "),
			strings.Join(bibliography.Names(), ", ")))
	}
	store, runID, err := s.openRun(ctx, name)
	if err != nil {
		return err
	}
	if format == deepResearchBench {
		return printBenchmark(ctx, s.Console, store, runID)
	}
	if onDemand {
		return printMade(ctx, s.Console, store, runID, f)
	}
	if slices.Contains(spokenFormats, format) {
		return printSpoken(ctx, s.Console, store, runID, f)
	}
	key := storage.FormatKey(runID, format)
	body, err := store.Get(ctx, key)
	digestHasIt := format == "md" || format == formats.NameHTML && f.link
	if errors.Is(err, storage.ErrNotExist) && !lookup.IsRunID(runID) && digestHasIt {
		err := printDigest(ctx, s, runID, f)
		if errors.As(err, new(lookup.NoBatchError)) {
			return view.Usage(view.Hint(fmt.Errorf("there is no run and no batch %q", runID),
				"`nightdesk list` shows what there is."))
		}
		return err
	}
	if errors.Is(err, storage.ErrNotExist) && format != "md" {
		return view.Usage(view.Hint(fmt.Errorf("there is no report of run %q as %s in %s", runID, format,
			store.Location("reports")),
			"The setting reporting.formats says which are made beside Markdown; "+storage.MetadataKey(runID)+
				" shows why one was not.\n`nightdesk replay RUN --format "+format+
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
		return printLink(ctx, s.Console, store, key, f.lifetime)
	}
	if s.JSON {
		out := map[string]string{"run_id": runID, "report": store.Location(key)}
		switch format {
		case "md":
			out["markdown"] = string(body)
		case formats.NameHTML:
			out["html"] = string(body)
		}
		return s.PrintJSON(out, false)
	}
	if f.path {
		fmt.Fprintln(s.Out, store.Location(key))
		return nil
	}
	if format == formats.NameDOCX && view.IsTerminal(s.Out) {
		return view.Usage(view.Hint(errors.New("a document is nothing to read in a terminal"),
			"Write it to a file: nightdesk report "+runID+" --format docx > report.docx; or see where it is with --path."))
	}
	_, err = s.Out.Write(body)
	return err
}

// spokenFormats are the formats of a narrated report: sound and transcript.
var spokenFormats = []string{"audio", "vtt"}

// printSpoken prints the narration of a report, or its transcript.
func printSpoken(ctx context.Context, con *view.Console, store storage.Store, runID string, f reportFlags) error {
	metadata, err := readMetadata(ctx, store, runID)
	if err != nil {
		return err
	}
	key := metadata.Audio.File
	if f.format == "vtt" {
		key = metadata.Audio.Transcript
	}
	if key == "" {
		why := cmp.Or(metadata.Audio.Problem, "it was not requested; use --audio with run or enqueue")
		return view.Usage(fmt.Errorf("the report of run %q is not read aloud: %s", runID, why))
	}
	switch {
	case f.link:
		return printLink(ctx, con, store, key, f.lifetime)
	case con.JSON:
		return con.PrintJSON(map[string]string{"run_id": runID, f.format: store.Location(key)}, false)
	case f.path:
		fmt.Fprintln(con.Out, store.Location(key))
		return nil
	case f.format == "audio" && view.IsTerminal(con.Out):
		return view.Usage(view.Hint(errors.New("sound cannot be shown in a terminal"),
			"Write it to a file: nightdesk report "+runID+" --format audio > report"+path.Ext(key)+
				"; or see where it is with --path."))
	}
	body, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	_, err = con.Out.Write(body)
	return err
}

// printMade prints a format that is made on demand from a run's files: the cited sources, or the report as PDF.
func printMade(ctx context.Context, con *view.Console, store storage.Store, runID string, f reportFlags) error {
	toFile := "Write it to a file: nightdesk report " + runID + " --format " + f.format + " > " +
		bibliography.File(runID, f.format)
	if f.path || f.link || con.JSON {
		return view.Usage(view.Hint(fmt.Errorf("--format %s is made when you ask for it: it has no --path, --link or --json",
			f.format), toFile))
	}
	if f.format == "pdf" && view.IsTerminal(con.Out) {
		return view.Usage(view.Hint(errors.New("a PDF cannot be shown in a terminal"), toFile))
	}
	body, err := made(ctx, store, runID, f.format)
	if errors.Is(err, storage.ErrNotExist) {
		return view.Usage(view.Hint(fmt.Errorf("run %q has no files in storage from which to create --format %s: %w", runID,
			f.format, err),
			"`nightdesk status RUN` says how far a run is. A PDF needs html in reporting.formats."))
	}
	if err != nil {
		return err
	}
	_, err = con.Out.Write(body)
	return err
}

func made(ctx context.Context, store storage.Store, runID, format string) ([]byte, error) {
	if format != "pdf" {
		cited, err := bundle.Cited(ctx, store, runID)
		if err != nil {
			return nil, err
		}
		return bibliography.Make(format, cited)
	}
	page, err := store.Get(ctx, storage.FormatKey(runID, formats.NameHTML))
	if err != nil {
		return nil, err
	}
	printer, err := pdf.Find()
	if err != nil {
		return nil, view.Hint(err, "Install one of them, for example: apt-get install chromium")
	}
	return printer.Print(ctx, page)
}

// printLink prints a link to an artefact that opens without credentials.
func printLink(ctx context.Context, con *view.Console, store storage.Store, key string, lifetime time.Duration) error {
	link, err := links.To(ctx, store, key, lifetime)
	if err != nil {
		return err
	}
	if con.JSON {
		return con.PrintJSON(map[string]string{"link": link}, false)
	}
	fmt.Fprintln(con.Out, link)
	return nil
}

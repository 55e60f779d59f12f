// Package reports delivers what runs and batches have made: reports in all formats, and digests. It works without a
// queue, also after the state of a run has expired.
//
// Entry points: [Desk.Report] and [Desk.Digest].
package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/digests"
	"nightdesk/pipeline/citation/bibliography"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// Desk reads what is in storage.
type Desk struct {
	Store storage.Store
	Queue *redisqueue.Queue // for digests of batches that have not ended; nil: there are none
}

// Names of formats.
const (
	Markdown   = "md"
	PDF        = "pdf"
	Audio      = "audio" // in whichever format it was recorded
	Transcript = "vtt"
)

// types maps the formats of reports and the extensions of files to media types.
var types = map[string]string{Markdown: "text/markdown; charset=utf-8", formats.NameHTML: "text/html; charset=utf-8",
	formats.NameDOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", PDF: "application/pdf",
	Transcript: "text/vtt; charset=utf-8", "mp3": "audio/mpeg", "opus": "audio/ogg", "wav": "audio/wav",
	bibliography.BibTeX: "application/x-bibtex; charset=utf-8",
	bibliography.RIS:    "application/x-research-info-systems; charset=utf-8",
	bibliography.CSL:    "application/vnd.citationstyles.csl+json"}

// TypeOf returns the media type of a format, or of a file with this extension.
func TypeOf(format string) string { return cmp.Or(types[format], "application/octet-stream") }

// Formats returns the names of all formats.
func Formats() []string {
	return slices.Concat([]string{Markdown}, formats.Names(), []string{PDF, Audio, "mp3", "opus", "wav", Transcript},
		bibliography.Names())
}

// File is a report in one format.
type File struct {
	RunID, Format string
	Key           string // in storage; empty: it was made on demand
	Name          string // for a download
	Body          []byte
}

// Type returns the media type.
func (f File) Type() string {
	if f.Format == Audio {
		return TypeOf(strings.TrimPrefix(path.Ext(f.Name), "."))
	}
	return TypeOf(f.Format)
}

// Text reports whether a terminal can show the file.
func (f File) Text() bool {
	return slices.Contains(append(bibliography.Names(), Markdown, formats.NameHTML, Transcript), f.Format)
}

// Report returns the report of a run in a format.
func (d Desk) Report(ctx context.Context, runID, format string) (f File, err error) {
	f = File{RunID: runID, Format: format, Name: runID + "." + format}
	switch {
	case !slices.Contains(Formats(), format):
		return f, view.Usage(fmt.Errorf("there is no format %q: it is %s", format, view.Either(Formats()...)))
	case format == PDF:
		f.Body, err = d.printed(ctx, runID)
	case slices.Contains(bibliography.Names(), format):
		f.Name = bibliography.File(runID, format)
		f.Body, err = d.cited(ctx, runID, format)
	case format == Audio, format == Transcript:
		if f.Key, err = d.spoken(ctx, runID, format); err == nil {
			f.Name = path.Base(f.Key)
			f.Body, err = d.Store.Get(ctx, f.Key)
		}
	default:
		f.Key = storage.FormatKey(runID, format)
		f.Body, err = d.Store.Get(ctx, f.Key)
	}
	if !errors.Is(err, storage.ErrNotExist) {
		return f, err
	}
	if format == Markdown {
		return f, view.NotFound(fmt.Errorf("there is no report of run %q in %s", runID, d.Store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them.")
	}
	hint := "The setting reporting.formats says which are made beside Markdown; " + storage.MetadataKey(runID) +
		" shows why one was not.\n`nightdesk replay RUN --format " + format + " --out FILE` makes it of the stored evidence."
	if f.Key == "" {
		hint = "`nightdesk status RUN` says how far a run is. A PDF needs html in reporting.formats."
	}
	return f, view.NotFound(fmt.Errorf("there is no report of run %q as %s in %s", runID, format,
		d.Store.Location("reports")), hint)
}

// spoken returns the key of a report that was read aloud, or of its transcript.
func (d Desk) spoken(ctx context.Context, runID, format string) (string, error) {
	metadata, err := d.Metadata(ctx, runID)
	key := map[string]string{Audio: metadata.Audio.File, Transcript: metadata.Audio.Transcript}[format]
	if key == "" && err == nil {
		why := cmp.Or(metadata.Audio.Problem, "it was not requested")
		err = view.NotFound(fmt.Errorf("the report of run %q is not read aloud: %s", runID, why),
			"Use --audio with run or enqueue, or `nightdesk narrate RUN`.")
	}
	return key, err
}

// Metadata returns the metadata of a run's report, or the zero value if there is none yet.
func (d Desk) Metadata(ctx context.Context, runID string) (digest.Facts, error) {
	data, err := d.Store.Get(ctx, storage.MetadataKey(runID))
	if errors.Is(err, storage.ErrNotExist) {
		return digest.Facts{}, nil
	}
	if err != nil {
		return digest.Facts{}, err
	}
	return digest.Read(data)
}

// cited returns the sources that a report cites, for reference managers.
func (d Desk) cited(ctx context.Context, runID, format string) ([]byte, error) {
	cited, err := bundle.Cited(ctx, d.Store, runID)
	if err != nil {
		return nil, fmt.Errorf("read the sources of run %s: %w", runID, err)
	}
	return bibliography.Make(format, cited)
}

// printing limits the number of concurrent browsers for PDFs. Each needs several hundred megabytes.
var printing = make(chan struct{}, 1)

// printed prints the HTML report as PDF.
func (d Desk) printed(ctx context.Context, runID string) ([]byte, error) {
	page, err := d.Store.Get(ctx, storage.FormatKey(runID, formats.NameHTML))
	if err != nil {
		return nil, err
	}
	printer, err := pdf.Find()
	if err != nil {
		return nil, view.Refused(err, "Install one of them, for example: apt-get install chromium")
	}
	select {
	case printing <- struct{}{}:
		defer func() { <-printing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return printer.Print(ctx, page)
}

// Digest returns the digest of a batch. final: the batch has ended and this is its stored digest; otherwise it is the
// digest so far.
func (d Desk) Digest(ctx context.Context, batch string) (out digest.Digest, final bool, err error) {
	out, err = digests.Read(ctx, d.Store, batch)
	if !errors.Is(err, storage.ErrNotExist) {
		return out, err == nil, err
	}
	if d.Queue == nil {
		return out, false, view.NotFound(view.NoBatchError(batch), fmt.Sprintf("There is no queue, and no digest of it in "+
			"%s. What `nightdesk run` researches has none: `nightdesk report RUN` prints a report.",
			d.Store.Location("batches")))
	}
	out, err = digests.Make(ctx, d.Queue, d.Store, batch)
	if !errors.Is(err, redisqueue.ErrNotFound) {
		return out, false, err
	}
	batches, err := d.Queue.Batches(ctx)
	if err == nil {
		err = view.NoBatch(batch, batches)
	}
	return out, false, err
}

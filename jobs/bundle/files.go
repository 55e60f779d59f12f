package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting"
	"nightdesk/prompts"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// The files of a bundle, by what they contain. Writer writes them, and everything that reads a bundle reads them from
// here. Besides them, a bundle has the report with its metadata and other formats, and the pages and figures of the
// run.
const (
	configJSON       document[configFile]        = "config.json"
	planningJSON     document[planningFile]      = "step1_planning.json"
	queueJSON        document[queueFile]         = "queue.json"
	citationsJSON    document[citationsFile]     = "citations.json"
	costsJSON        document[costFile]          = "token_cost_summary.json"
	reportJSON       document[report.Report]     = "report.json"       // with a report
	outlineJSON      document[reporting.Outline] = "outline.json"      // with a report
	verificationJSON document[verificationFile]  = "verification.json" // with a report; how it was checked
	sourcesJSONL     lines[sourceLine]           = "sources.jsonl"
	claimsJSONL      lines[claimLine]            = "claims.jsonl"
	eventsJSONL      lines[topicqueue.Event]     = "events.jsonl"
)

// progressJSON returns the file with the events of a stage.
func progressJSON(stage string) document[progressFile] {
	return document[progressFile](stage + "_progress.json")
}

// document is a JSON file with a T.
type document[T any] string

func (d document[T]) key(runID string) string { return storage.CacheKey(runID, string(d)) }

// put adds the file to a bundle.
func (d document[T]) put(b *Writer, v T) error { return b.files.PutJSON(d.key(b.In.Run.ID), v) }

// read reads the file from a stored bundle. The error wraps storage.ErrNotExist if there is none, and
// storage.ErrGarbled if it has another format.
func (d document[T]) read(ctx context.Context, store storage.Store, runID string) (T, error) {
	return storage.GetJSON[T](ctx, store, d.key(runID))
}

// lines is a JSON Lines file, each line with a T.
type lines[T any] string

func (l lines[T]) key(runID string) string { return storage.CacheKey(runID, string(l)) }

// put adds the file to a bundle.
func (l lines[T]) put(b *Writer, v []T) error {
	return storage.PutLines(b.files, l.key(b.In.Run.ID), v)
}

// read reads the lines that have a valid format from a stored bundle. The error wraps storage.ErrNotExist if there is
// no such file.
func (l lines[T]) read(ctx context.Context, store storage.Store, runID string) (out []T, err error) {
	body, err := store.Get(ctx, l.key(runID))
	for line := range bytes.Lines(body) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			out = append(out, v)
		}
	}
	return out, err
}

// Lines reads a JSON Lines file of a bundle. The error wraps storage.ErrNotExist if there is no such file.
func Lines[T any](ctx context.Context, store storage.Store, key string) (out []T, err error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(body) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("read %s: %w", store.Location(key), err)
		}
		out = append(out, v)
	}
	return out, nil
}

// Report reads the report of a run. One that was written before reports were stored as values is read from its
// Markdown. The error wraps storage.ErrNotExist if there is none.
func Report(ctx context.Context, store storage.Store, runID string) (report.Report, error) {
	r, err := reportJSON.read(ctx, store, runID)
	if !errors.Is(err, storage.ErrNotExist) {
		return r, err
	}
	body, err := store.Get(ctx, storage.ReportKey(runID))
	if err != nil {
		return r, err
	}
	r = report.Read(string(body))
	for i, s := range r.Sections {
		if prompts.FrameOf(s.Title) == prompts.Conclusion {
			r.Sections[i].Role = report.RoleConclusion
		}
	}
	return r, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	return err
}

// list replaces nil by an empty list, because readers of the JSON expect a list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/text"
	"nightdesk/storage"
)

// Format is a report in a format other than Markdown.
type Format struct {
	Format  string `json:"format"`
	File    string `json:"file,omitempty"`    // its storage key; empty: no file
	Problem string `json:"problem,omitempty"` // why there is no file

	body []byte
}

// Formats renders the report of a run in the named formats. An error affects only its format; the report itself is the
// Markdown.
func (s Services) Formats(runID string, names []string, r formats.Report) []Format {
	made := make([]Format, len(names))
	for i, name := range names {
		made[i].Format = name
		var err error
		if made[i].body, err = s.makeFormat(name, r); err != nil {
			made[i].Problem = err.Error()
		} else {
			made[i].File = storage.FormatKey(runID, name)
		}
	}
	return made
}

// makeFormat renders one format. It returns a panic as an error.
func (s Services) makeFormat(name string, r formats.Report) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("make the %s of the report: panic: %v", name, p)
		}
	}()
	return s.Format(name, r)
}

// makeFormats renders the formats that the run requests. The metadata lists the problems of missing formats. The error
// is the store's.
func (b *Writer) makeFormats(ctx context.Context) error {
	asked := b.In.Run.Options.Formats
	if b.report == nil {
		return nil
	}
	if len(asked) == 0 {
		return markNews(ctx, b.services.Store, b.In, b.report.Tree)
	}
	r, err := ReportToFormat(ctx, b.services.Store, b.In, *b.report)
	if err != nil {
		return err
	}
	b.formats = b.services.Formats(b.In.Run.ID, asked, r)
	for _, f := range b.formats {
		if f.Problem != "" {
			zerolog.Ctx(ctx).Error().Str("err", f.Problem).Str("format", f.Format).Msg("report not rendered in " +
				"this format")
		}
	}
	return nil
}

// putFormats stores the rendered formats, and deletes those, and audio files, of an earlier epoch that were not made
// again.
func (b *Writer) putFormats(ctx context.Context) error {
	made, names := slices.Clone(b.staged), formats.Names()
	for _, f := range b.formats {
		if f.File != "" {
			b.files.Put(f.File, f.body)
			made = append(made, f.File)
		}
	}
	if b.audio != nil {
		names = append(slices.Clone(names), narration.Formats()...)
	}
	for _, name := range names {
		key := storage.FormatKey(b.In.Run.ID, name)
		if slices.Contains(made, key) {
			continue
		}
		if err := b.leased.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// ReportToFormat collects the data for other formats of a report: the passages behind its citations, and its figures.
// The error is the store's. A missing figure is replaced by its title.
func ReportToFormat(ctx context.Context, store storage.Store, in reporting.Input,
	rep reporting.Report) (formats.Report, error) {
	r := formats.Report{
		Tree: rep.Tree, Title: rep.Title, Language: in.Run.Options.Language,
		Figures: map[string][]byte{},
	}
	registry := citation.NewRegistry(in.Traces())
	r.Files = files(registry, rep)
	var err error
	if r.Notes, err = notes(ctx, store, in.Run.ID, registry, rep); err != nil {
		return r, err
	}
	if err := markNews(ctx, store, in, rep.Tree); err != nil {
		return r, err
	}
	room := formats.MaxFigures
	for _, s := range rep.Tree.Sections {
		report.EachBlock(s.Blocks, func(b *report.Block) {
			if _, known := r.Figures[b.Picture]; b.Picture == "" || known || room <= 0 || err != nil {
				return
			}
			var body []byte
			body, err = store.Get(ctx, storage.CacheKey(in.Run.ID, b.Picture))
			err = ignoreMissing(err)
			r.Figures[b.Picture] = body
			room -= len(body)
		})
	}
	return r, err
}

// markNews marks what the report that this one builds on does not have. The error is the store's.
func markNews(ctx context.Context, store storage.Store, in reporting.Input, tree report.Report) error {
	if in.Changes == nil {
		return nil
	}
	before, err := Report(ctx, store, in.Changes.RunID)
	if err != nil {
		return ignoreMissing(err)
	}
	tree.MarkNew(before)
	return nil
}

// files returns the addresses of the local documents that a report cites, by name.
func files(registry *citation.Registry, rep reporting.Report) map[string]string {
	out := map[string]string{}
	for _, key := range rep.Cited {
		if t, ok := registry.Lookup(key); ok && t.Source.File != "" {
			slashed := filepath.ToSlash(t.Source.File)
			if !strings.HasPrefix(slashed, "/") { // begins with a drive letter
				slashed = "/" + slashed
			}
			out[t.Source.Document] = (&url.URL{Scheme: "file", Path: slashed}).String()
		}
	}
	return out
}

// notes returns the passages behind the citations of a report, by the anchors of its references. The error is the
// store's.
func notes(ctx context.Context, store storage.Store, runID string, registry *citation.Registry,
	rep reporting.Report) (map[string]formats.Note, error) {
	out := map[string]formats.Note{}
	labels, pages := rep.Tree.Labels(), map[string]string{} // pages by hash
	for _, key := range rep.Cited {
		trace, known := registry.Lookup(key)
		if !known {
			continue
		}
		anchor := report.Entry{Label: labels[key]}.Anchor()
		hash := trace.Source.Hash
		if _, read := pages[hash]; !read {
			body, err := store.Get(ctx, storage.PageKey(runID, hash))
			if err != nil && !errors.Is(err, storage.ErrNotExist) {
				return nil, err
			}
			pages[hash] = string(body)
		}
		note := out[anchor] // several ids may share a number
		note.Title = cmp.Or(note.Title, trace.Source.Title, trace.Source.URL, trace.Source.Document)
		for _, c := range trace.Claims {
			p := formats.Passage{Quote: c.Quote}
			p.Before, p.After = text.Around(pages[hash], c.Start, c.End, contextBytes)
			note.Passages = append(note.Passages, p)
		}
		out[anchor] = note
	}
	return out, nil
}

// contextBytes is the amount of source text shown on each side of a passage, in bytes.
const contextBytes = 250

package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/history"
	"nightdesk/pipeline/citation/bibliography"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Limits of one page.
const (
	maxListed = 1000 // runs
	maxTags   = 200  // maximum number of suggested tags
)

// when formats a time for display.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// batchPage is the data of the page of a batch.
type batchPage struct {
	Batch, CSV   string
	Filter       filter
	Tags         []string // tags of the runs
	States       []state
	Shown, Total int
	Runs         []desk.RunSummary
	Actions      []action
	Back         string // URL of this page, for forms
	Live         bool   // at least one run has not ended
	// columns that at least one listed run fills
	HasChanges, HasChecks, HasCosts bool
}

// batches lists the batches, newest first.
func (s *site) batchesPage(ctx context.Context, _ *http.Request) (string, any, error) {
	list, err := s.Batches(ctx, desk.Page{Limit: maxListed})
	return "Batches", list.Batches, err
}

// selected returns the request for the runs that match ?q, ?tag, ?id and ?state.
func selected(r *http.Request, batch string) desk.ListRequest {
	q := r.URL.Query()
	out := desk.ListRequest{Batch: batch, Query: strings.TrimSpace(q.Get("q")), ID: strings.TrimSpace(q.Get("id")),
		State: q.Get("state")}
	if tag := strings.TrimSpace(q.Get("tag")); tag != "" {
		out.Tags = []string{tag}
	}
	return out
}

// filter is what the form of a list shows.
type filter struct{ Query, Tag, ID, State string }

func filterOf(r desk.ListRequest) filter {
	return filter{r.Query, strings.Join(r.Tags, ", "), r.ID, r.State}
}

// Some reports whether the filter excludes any runs.
func (f filter) Some() bool { return f != filter{} }

// batch lists the runs of a batch that match ?q, ?tag, ?id and ?state.
func (s *site) batchPage(ctx context.Context, r *http.Request) (string, any, error) {
	batch := r.PathValue("batch")
	chosen := selected(r, batch)
	p := batchPage{Batch: batch, Filter: filterOf(chosen), CSV: "../csv/" + name(batch) + "?" + r.URL.RawQuery}
	all, err := s.Batch(ctx, desk.BatchRequest{Batch: batch})
	if err != nil {
		return "", nil, err
	}
	p.Total, p.Tags, p.States = all.Runs, all.Tags, states(all.States, "./"+name(batch), chosen.State)
	for state, n := range all.States {
		p.Live = p.Live || n > 0 && !state.Final()
	}
	found, err := s.List(ctx, chosen)
	p.Shown, p.Runs = len(found.Runs), found.Runs[:min(maxListed, len(found.Runs))]
	for _, run := range p.Runs {
		p.HasChanges, p.HasChecks = p.HasChanges || changesOf(run.Tally) != "", p.HasChecks || view.Confirmed(run.Tally) != ""
		p.HasCosts = p.HasCosts || shortCost(run.Tally) != ""
	}
	p.Actions, p.Back = offered(p.Runs...), r.URL.RequestURI()
	return "Batch " + batch, p, err
}

// timeUsed returns how long a run took, or has taken; "" if it has not started.
func timeUsed(run desk.RunSummary) string {
	if run.StartedAt.IsZero() {
		return ""
	}
	return view.Duration(run.Used(time.Now()))
}

// csv writes the runs of a batch that match ?q, ?tag, ?id and ?state as a CSV table.
func (s *site) csv(w http.ResponseWriter, r *http.Request) {
	found, err := s.List(r.Context(), selected(r, r.PathValue("batch")))
	if err != nil {
		s.refuseFile(w, r, err)
		return
	}
	var out bytes.Buffer
	table := csv.NewWriter(&out)
	_ = table.Write(csvColumns) // to memory
	for _, run := range found.Runs {
		row := csvRow(run)
		for i, field := range row {
			if strings.IndexAny(field, "=+-@\t\r") == 0 {
				row[i] = "'" + field // a spreadsheet would treat the field as a formula
			}
		}
		_ = table.Write(row)
	}
	table.Flush()
	sendFile(w, "text/csv; charset=utf-8", r.PathValue("batch")+".csv", out.Bytes())
}

// runPage is the data of the page of a run.
type runPage struct {
	desk.RunSummary
	Live            bool
	Blocks          []topicqueue.Block
	Actions         []action
	History         string // key of the topic; empty: no earlier report
	Report          template.HTML
	Audio           *audio // nil: the report has no audio
	NotAloud        string // why not
	Downloads       []link
	Sources         []desk.Source // cited ones with text
	Lists           []link        // of the sources, for reference managers
	Check           string
	Checked         bool // there are check results
	Usage           digest.Usage
	Remarks, Heeded []topicqueue.Remark // about this and earlier reports
}

// run shows one run: its report or its progress.
func (s *site) runPage(ctx context.Context, r *http.Request) (string, any, error) {
	id := r.PathValue("run")
	found, err := s.Find(ctx, id)
	if err != nil {
		return "", nil, err
	}
	run := found.Run
	p := runPage{RunSummary: s.Summary(run), Live: !run.State.Final()}
	p.Topic = topicqueue.OneLine(run.Topic)
	if found.Queued {
		p.Actions = offered(p.RunSummary)
	}
	if !found.Queued || !run.PublishedAt.IsZero() {
		p.History = history.KeyOf(run)
	}
	p.Blocks, err = found.Blocks(ctx)
	if err == nil && run.Report != "" && (!run.PublishedAt.IsZero() || run.Unpublished != "") {
		err = s.addReport(ctx, run, &p)
	}
	return p.Topic, p, err
}

// addReport adds the stored files and data of a published run.
func (s *site) addReport(ctx context.Context, run topicqueue.Run, p *runPage) error {
	sources, claims, err := s.evidence(ctx, run.ID)
	if err != nil {
		return err
	}
	for _, form := range []struct{ format, name string }{{"md", "Markdown"}, {"html", "page"}, {"docx", "Word"}} {
		key := storage.FormatKey(run.ID, form.format)
		there, err := s.Store.Exists(ctx, key)
		if err != nil {
			return err
		}
		if there {
			p.Downloads = append(p.Downloads, link{Name: form.name, URL: "../a/" + key})
		}
		if there && form.format == "html" {
			body, err := s.Store.Get(ctx, key)
			if err != nil {
				return err
			}
			p.Report = reportOf(run.ID, body, sources, claims)
			if _, err := pdf.Find(); err == nil {
				p.Downloads = append(p.Downloads, link{Name: "PDF", URL: name(run.ID) + "/as/pdf"})
			}
		}
	}
	if body, err := s.Store.Get(ctx, storage.MetadataKey(run.ID)); err == nil {
		if f, err := digest.Read(body); err == nil {
			p.Heeded, p.Check, p.Usage, p.NotAloud = f.Remarks, view.Confirmed(f.Tally), f.Usage, f.Audio.Problem
			if p.Audio, err = s.audio(ctx, f.Audio); err != nil {
				return err
			}
		}
	}
	whole, err := s.Store.Exists(ctx, storage.ManifestKey(run.ID))
	if err != nil {
		return err
	}
	if whole {
		p.Downloads = append(p.Downloads, link{Name: "everything", URL: name(run.ID) + "/zip"})
	}
	if p.Remarks, err = history.Remarks(ctx, s.Store, run); err != nil {
		return err
	}
	if p.Checked, err = s.Store.Exists(ctx, storage.CacheKey(run.ID, "verification.json")); err != nil {
		return err
	}
	p.Sources = slices.DeleteFunc(sources, func(s desk.Source) bool { return !s.Cited || s.Hash == "" })
	if len(p.Sources) > 0 {
		labels := map[string]string{bibliography.BibTeX: "BibTeX", bibliography.RIS: "RIS", bibliography.CSL: "CSL-JSON"}
		for _, format := range bibliography.Names() {
			p.Lists = append(p.Lists, link{Name: labels[format], URL: name(run.ID) + "/as/" + format})
		}
	}
	return nil
}

// costOf describes the model usage, or returns "" if there were no calls.
func costOf(u digest.Usage) string {
	if u.Calls == 0 {
		return ""
	}
	return fmt.Sprintf("%d model calls, %d tokens, %.2f USD", u.Calls, u.Tokens, u.CostUSD)
}

// reportOf returns the body of a report's HTML page. formats.HTML has escaped its text, and it loads and runs
// nothing. Citations and references to stored texts become links to the pages of their sources.
func reportOf(run string, page []byte, sources []desk.Source, claims []desk.Claim) template.HTML {
	_, rest, _ := bytes.Cut(page, []byte("<main>"))
	body, _, ok := bytes.Cut(rest, []byte("</main>"))
	if !ok {
		return ""
	}
	pages := map[string]string{} // source pages by source ID, by hash of the text and by anchor of a citation
	for _, source := range slices.Backward(sources) {
		if source.Hash != "" {
			pages[source.ID] = "./" + name(run) + "/sources/" + name(source.ID)
			pages[source.Hash] = pages[source.ID]
		}
	}
	for _, c := range claims {
		if at := pages[c.SourceID]; at != "" {
			pages["ref-"+strings.ToLower(c.CitationID)] = at + "?citation=" + url.QueryEscape(c.CitationID) + "#here"
		}
	}
	for _, m := range reference.FindAllSubmatch(body, -1) { // references that have a number in place of an ID
		if anchor := string(m[1]); pages[anchor] == "" {
			pages[anchor] = pages[string(m[2])]
		}
	}
	linked := href.ReplaceAllFunc(body, func(link []byte) []byte {
		target := string(href.FindSubmatch(link)[1])
		anchor, within := strings.CutPrefix(target, "#")
		at := pages[strings.TrimSuffix(path.Base(target), ".txt")]
		if within {
			at = pages[anchor]
		}
		if rest, stored := strings.CutPrefix(target, "../cache/"); stored && at == "" {
			at = "../a/cache/" + rest
		}
		return []byte(`href="` + template.HTMLEscapeString(cmp.Or(at, target)) + `"`)
	})
	return template.HTML(linked)
}

// Patterns in a report's page: a link, and a reference with the stored text that it names.
var (
	href      = regexp.MustCompile(`href="([^"]*)"`)
	reference = regexp.MustCompile(`id="(ref-[a-z0-9-]+)"><p>[^\n]*?/pages/([0-9a-f]{64})\.txt"`)
)

// evidence returns the sources and the claims of a run, as far as they are in storage.
func (s *site) evidence(ctx context.Context, runID string) (sources []desk.Source, claims []desk.Claim, err error) {
	r := desk.RunRequest{RunID: runID}
	if sources, err = s.Sources(ctx, r); err == nil {
		claims, err = s.Claims(ctx, r)
	}
	if view.KindOf(err) == view.Missing {
		err = nil
	}
	return sources, claims, err
}

// sourceName returns the title of a source and the heading of its part.
func sourceName(s desk.Source) string {
	title := cmp.Or(s.Title, s.Document, s.URL)
	if n := len(s.Section); n > 0 && s.Section[n-1] != title {
		title += ", " + s.Section[n-1]
	}
	return topicqueue.Clip(title, 200)
}

// sourceAbout returns the authors, publisher and date of a source.
func sourceAbout(s desk.Source) string {
	parts := []string{strings.Join(s.Authors, ", "), s.Publisher, s.Date}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

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

// Parts of the lists.
type (
	batchLine struct {
		Name, URL, Digest, When string
		Runs                    int
	}
	batchPage struct {
		Batch, Digest, CSV   string
		Filter               filter
		Tags                 []string // tags of the runs
		States               []state
		Shown, Total, Listed int
		Runs                 []runLine
		Actions              []action
		Back                 string // URL of this page, for forms
		Live                 bool   // at least one run has not ended
		// columns that at least one listed run fills
		HasChanges, HasChecks, HasCosts bool
	}
	runLine struct {
		ID, Topic, URL, State, Class, Reason, Labels, Used, Ended string
		Changes, Check, Cost                                      string
	}
)

// batchPages list batches and their runs.
type batchPages struct{ *desk.Desk }

// batches lists the batches, newest first.
func (s batchPages) batches(ctx context.Context, _ *http.Request) (string, any, error) {
	list, err := s.Batches(ctx, desk.Page{Limit: maxListed})
	var out []batchLine
	for _, b := range list.Batches {
		out = append(out, batchLine{b.Name, "batches/" + name(b.Name), "digests/" + name(b.Name), when(b.CreatedAt), b.Runs})
	}
	return "Batches", out, err
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
func (s batchPages) batch(ctx context.Context, r *http.Request) (string, any, error) {
	batch := r.PathValue("batch")
	chosen := selected(r, batch)
	p := batchPage{Batch: batch, Filter: filterOf(chosen), Digest: "../digests/" + name(batch),
		CSV: "../csv/" + name(batch) + "?" + r.URL.RawQuery}
	all, err := s.Batch(ctx, desk.BatchRequest{Batch: batch})
	if err != nil {
		return "", nil, err
	}
	p.Total, p.Tags, p.States = all.Runs, all.Tags, states(all.States, "./"+name(batch), chosen.State)
	for state, n := range all.States {
		p.Live = p.Live || n > 0 && !state.Final()
	}
	now := time.Now()
	var listed []desk.RunSummary
	_, _, err = s.Each(ctx, chosen, func(run desk.RunSummary) error {
		p.Shown++
		if len(p.Runs) < maxListed {
			line := lineOf(run, now)
			p.Runs, listed = append(p.Runs, line), append(listed, run)
			p.HasChanges, p.HasChecks = p.HasChanges || line.Changes != "", p.HasChecks || line.Check != ""
			p.HasCosts = p.HasCosts || line.Cost != ""
		}
		return nil
	})
	p.Listed, p.Actions, p.Back = len(p.Runs), offered(listed...), r.URL.RequestURI()
	return "Batch " + batch, p, err
}

func lineOf(run desk.RunSummary, now time.Time) runLine {
	line := runLine{ID: run.RunID, Topic: topicqueue.Clip(topicqueue.OneLine(run.Topic), 300),
		URL: "../runs/" + name(run.RunID), State: run.Word(), Class: string(run.State),
		Reason: topicqueue.Clip(run.Reason, 200), Labels: strings.Join(append([]string{run.Ref}, run.Tags...), " "),
		Ended:   when(run.EndedAt),
		Changes: changesOf(run.Tally), Check: confirmedOf(run.Tally), Cost: shortCost(run.Tally)}
	if !run.StartedAt.IsZero() {
		line.Used = view.Duration(run.Used(now))
	}
	return line
}

// csv writes the runs of a batch that match ?q, ?tag, ?id and ?state as a CSV table.
func (s batchPages) csv(w http.ResponseWriter, r *http.Request) {
	var out bytes.Buffer
	table := csv.NewWriter(&out)
	row := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		row[i] = c.name
	}
	_ = table.Write(row) // to memory
	_, _, err := s.Each(r.Context(), selected(r, r.PathValue("batch")), func(run desk.RunSummary) error {
		for i, c := range csvColumns {
			if row[i] = c.of(run); strings.IndexAny(row[i], "=+-@\t\r") == 0 {
				row[i] = "'" + row[i] // a spreadsheet would treat the field as a formula
			}
		}
		return table.Write(row)
	})
	table.Flush()
	if err != nil {
		downloads{s.Store, s.Console.Log}.refuse(w, r, err)
		return
	}
	sendFile(w, "text/csv; charset=utf-8", r.PathValue("batch")+".csv", out.Bytes())
}

// runPages show a run: its report, progress and check results.
type runPages struct{ *desk.Desk }

// Parts of the run page.
type (
	runPage struct {
		ID, Topic, Batch, BatchURL, State, Class, Reason, Check string
		Facts                                                   []fact
		Downloads                                               []link
		Lists                                                   []link // of the sources, for reference managers
		Blocks                                                  []blockLine
		Sources                                                 []sourceLine
		Report                                                  template.HTML
		Checked                                                 string // URL of the check results; empty: none
		Audio                                                   *audio // nil: the report has no audio
		Live                                                    bool
		Actions                                                 []action
		Remarks, Heeded                                         []remarkLine // about this and earlier reports
		RemarksURL, History                                     string
	}
	blockLine  struct{ Title, Status, Class, Reason string }
	sourceLine struct{ Title, URL, About string }
)

// run shows one run: its report or its progress.
func (s runPages) run(ctx context.Context, r *http.Request) (string, any, error) {
	id := r.PathValue("run")
	found, err := s.Find(ctx, id)
	if err != nil {
		return "", nil, err
	}
	run := found.Run
	blocks, err := found.Blocks(ctx)
	if err != nil {
		return "", nil, err
	}
	summary := s.Summary(run)
	topic := topicqueue.OneLine(run.Topic)
	p := runPage{ID: id, Topic: topic, Batch: run.Batch, BatchURL: "../batches/" + name(run.Batch), State: summary.Word(),
		Class: string(run.State), Reason: run.Reason, Live: !run.State.Final()}
	if found.Queued {
		p.Actions = offered(summary)
	}
	for _, b := range blocks {
		p.Blocks = append(p.Blocks, blockLine{b.Title, strings.ToLower(string(b.Status)),
			map[bool]string{true: "failed"}[b.Status == topicqueue.BlockFailed], b.Reason})
	}
	used := ""
	if !run.StartedAt.IsZero() {
		used = view.Duration(summary.Used(time.Now()))
	}
	p.Facts = facts("Id, tags", strings.TrimSpace(strings.Join(append([]string{run.Ref}, run.Tags...), " ")),
		"Begun", when(run.StartedAt), "Ended", when(run.EndedAt), "Time used", used)
	if !found.Queued || !run.PublishedAt.IsZero() {
		p.History = "../topics/" + history.KeyOf(run)
	}
	if run.Report == "" || run.PublishedAt.IsZero() && run.Unpublished == "" {
		return topic, p, nil
	}
	err = s.addReport(ctx, run, &p)
	return topic, p, err
}

// addReport adds the stored files and data of a published run.
func (s runPages) addReport(ctx context.Context, run topicqueue.Run, p *runPage) error {
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
			p.Report = withRemarkLinks(reportOf(run.ID, body, sources, claims), name(run.ID)+"/remarks")
			if _, err := pdf.Find(); err == nil {
				p.Downloads = append(p.Downloads, link{Name: "PDF", URL: name(run.ID) + "/pdf"})
			}
		}
	}
	if body, err := s.Store.Get(ctx, storage.MetadataKey(run.ID)); err == nil {
		if f, err := digest.Read(body); err == nil {
			p.Heeded, p.Check = remarkLines(f.Remarks), confirmedOf(f.Tally)
			p.Facts = append(p.Facts, facts("Cost", costOf(f.Usage), "Not read aloud", f.Audio.Problem)...)
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
	remarks, err := history.Remarks(ctx, s.Store, run)
	if err != nil {
		return err
	}
	p.Remarks, p.RemarksURL = remarkLines(remarks), name(run.ID)+"/remarks"
	checked, err := s.Store.Exists(ctx, storage.CacheKey(run.ID, "verification.json"))
	if err != nil {
		return err
	}
	if checked {
		p.Checked = "./" + name(run.ID) + "/checks"
	}
	if p.Sources = sourceLines(run.ID, sources); len(p.Sources) > 0 {
		labels := map[string]string{bibliography.BibTeX: "BibTeX", bibliography.RIS: "RIS", bibliography.CSL: "CSL-JSON"}
		for _, format := range bibliography.Names() {
			p.Lists = append(p.Lists, link{Name: labels[format], URL: name(run.ID) + "/bibliography/" + format})
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
func (s runPages) evidence(ctx context.Context, runID string) (sources []desk.Source, claims []desk.Claim, err error) {
	r := desk.RunRequest{RunID: runID}
	if sources, err = s.Sources(ctx, r); err == nil {
		claims, err = s.Claims(ctx, r)
	}
	if view.KindOf(err) == view.Missing {
		err = nil
	}
	return sources, claims, err
}

// sourceLines lists the sources that a report cites.
func sourceLines(runID string, all []desk.Source) (out []sourceLine) {
	for _, source := range all {
		if source.Cited && source.Hash != "" {
			out = append(out, sourceLine{sourceName(source), name(runID) + "/sources/" + name(source.ID), sourceAbout(source)})
		}
	}
	return out
}

func sourceName(s desk.Source) string {
	title := cmp.Or(s.Title, s.Document, s.URL)
	if n := len(s.Section); n > 0 && s.Section[n-1] != title {
		title += ", " + s.Section[n-1]
	}
	return topicqueue.Clip(title, 200)
}

// sourceAbout returns the authors, publisher and date of a source.
func sourceAbout(s desk.Source) string {
	var parts []string
	for _, part := range []string{strings.Join(s.Authors, ", "), s.Publisher, s.Date} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

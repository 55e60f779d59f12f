package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// maxListed bounds the runs that one page lists.
const maxListed = 1000

// when writes a time for a person.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// Pieces of the lists.
type (
	batchLine struct {
		Name, URL, Digest, When string
		Runs                    int
	}
	batchPage struct {
		Batch, Digest, CSV, Query string
		States                    []state
		Shown, Total, Listed      int
		Runs                      []runLine
	}
	runLine struct {
		Topic, URL, State, Class, Reason, Labels, Used, Ended string
	}
)

// batches lists the batches, the newest first.
func (s *site) batches(ctx context.Context, _ *http.Request) (string, any, error) {
	batches, err := s.Queue.Batches(ctx)
	if err != nil {
		return "", nil, err
	}
	var out []batchLine
	for _, b := range slices.Backward(batches) {
		if len(out) == maxListed {
			break
		}
		size, err := s.Queue.BatchSize(ctx, b.Name)
		if err != nil {
			return "", nil, err
		}
		out = append(out, batchLine{b.Name, "batches/" + name(b.Name), "digests/" + name(b.Name), when(b.CreatedAt), size})
	}
	return "Batches", out, nil
}

// eachRun calls yield for the runs of a batch. Runs whose state is damaged do not hide the others.
func (s *site) eachRun(ctx context.Context, batch string, yield func(topicqueue.Run) error) error {
	if _, err := s.Queue.Batch(ctx, batch); err != nil {
		if errors.Is(err, redisqueue.ErrNotFound) {
			return noBatch(batch)
		}
		return err
	}
	err := s.Queue.Runs(ctx, batch, yield)
	var broken *redisqueue.BrokenError
	if errors.As(err, &broken) {
		s.Log.Warn().Err(err).Str("batch", batch).Msg("runs are left out of a page")
		return nil
	}
	return err
}

// batch lists the runs of a batch that fit ?q and ?state.
func (s *site) batch(ctx context.Context, r *http.Request) (string, any, error) {
	batch, query := r.PathValue("batch"), r.URL.Query()
	p := batchPage{Batch: batch, Query: strings.TrimSpace(query.Get("q")), Digest: "../digests/" + name(batch),
		CSV: "../csv/" + name(batch) + "?" + r.URL.RawQuery}
	counts, now := map[topicqueue.RunState]int{}, time.Now()
	err := s.eachRun(ctx, batch, func(run topicqueue.Run) error {
		p.Total++
		counts[run.State]++
		if !fits(run, p.Query) || query.Get("state") != "" && query.Get("state") != string(run.State) {
			return nil
		}
		p.Shown++
		if len(p.Runs) < maxListed {
			p.Runs = append(p.Runs, lineOf(run, now))
		}
		return nil
	})
	p.Listed = len(p.Runs)
	p.States = states(counts, "./"+name(batch), query.Get("state"))
	return "Batch " + batch, p, err
}

func lineOf(run topicqueue.Run, now time.Time) runLine {
	line := runLine{Topic: topicqueue.Clip(topicqueue.OneLine(run.Topic), 300), URL: "../runs/" + name(run.ID),
		State: view.State(run), Class: string(run.State), Reason: topicqueue.Clip(run.Reason, 200),
		Labels: strings.Join(append([]string{run.Ref}, run.Tags...), " "), Ended: when(run.EndedAt)}
	if !run.StartedAt.IsZero() {
		line.Used = view.Duration(cmp.Or(run.EndedAt, now).Sub(run.StartedAt))
	}
	return line
}

// csv writes the runs of a batch that fit ?q and ?state as a table for other programs.
func (s *site) csv(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var out bytes.Buffer
	table := csv.NewWriter(&out)
	_ = table.Write([]string{"run_id", "id", "topic", "tags", "state", "reason", "created_at", "ended_at", "report"})
	err := s.eachRun(r.Context(), r.PathValue("batch"), func(run topicqueue.Run) error {
		if !fits(run, query.Get("q")) || query.Get("state") != "" && query.Get("state") != string(run.State) {
			return nil
		}
		ended := ""
		if !run.EndedAt.IsZero() {
			ended = run.EndedAt.UTC().Format(time.RFC3339)
		}
		fields := []string{run.ID, run.Ref, run.Topic, strings.Join(run.Tags, ","), string(run.State), run.Reason,
			run.CreatedAt.UTC().Format(time.RFC3339), ended, run.Report}
		for i, f := range fields {
			if strings.IndexAny(f, "=+-@\t\r") == 0 { // a spreadsheet would compute with it
				fields[i] = "'" + f
			}
		}
		return table.Write(fields)
	})
	table.Flush()
	var missing notHere
	switch {
	case errors.As(err, &missing):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(r.PathValue("batch")+".csv"))
		_, _ = w.Write(out.Bytes()) // the reader is gone
	}
}

// Pieces of the page of a run.
type (
	runPage struct {
		ID, Topic, Batch, BatchURL, State, Class, Reason, Check string
		Facts                                                   []fact
		Downloads                                               []link
		Blocks                                                  []blockLine
		Sources                                                 []sourceLine
		Report                                                  template.HTML
		Live                                                    bool
	}
	blockLine  struct{ Title, Status, Class, Reason string }
	sourceLine struct{ Title, URL, About string }
)

// run shows one run: its report, or how far it is.
func (s *site) run(ctx context.Context, r *http.Request) (string, any, error) {
	id := r.PathValue("run")
	if !runID.MatchString(id) {
		return "", nil, noRun(id)
	}
	run, blocks, err := s.find(ctx, id)
	if err != nil {
		return "", nil, err
	}
	topic := topicqueue.OneLine(run.Topic)
	p := runPage{ID: id, Topic: topic, Batch: run.Batch, BatchURL: "../batches/" + name(run.Batch), State: view.State(run),
		Class: string(run.State), Reason: run.Reason, Live: !run.State.Final()}
	for _, b := range blocks {
		p.Blocks = append(p.Blocks, blockLine{b.Title, strings.ToLower(string(b.Status)),
			map[bool]string{true: "failed"}[b.Status == topicqueue.BlockFailed], b.Reason})
	}
	used := ""
	if !run.StartedAt.IsZero() {
		used = view.Duration(cmp.Or(run.EndedAt, time.Now()).Sub(run.StartedAt))
	}
	p.Facts = facts("Id, tags", strings.TrimSpace(strings.Join(append([]string{run.Ref}, run.Tags...), " ")),
		"Begun", when(run.StartedAt), "Ended", when(run.EndedAt), "Time used", used)
	if run.Report == "" || run.PublishedAt.IsZero() && run.Unpublished == "" {
		return topic, p, nil
	}
	return topic, p, s.addReport(ctx, run, &p)
}

// runID matches what can be a run's id, and in the keys of its files means nothing else.
var runID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

func noRun(id string) error {
	return notHere(fmt.Sprintf("There is no run %q, neither in the queue nor in the storage.", id))
}

// find returns a run from the queue or, when it has left it, from its bundle.
func (s *site) find(ctx context.Context, id string) (topicqueue.Run, []topicqueue.Block, error) {
	run, err := s.Queue.Run(ctx, id)
	if err == nil {
		blocks, err := s.Queue.Blocks(ctx, id)
		return run, blocks, err
	}
	if !errors.Is(err, redisqueue.ErrNotFound) {
		return run, nil, err
	}
	archive := bundle.Archive{Store: s.Store}
	run, err = archive.Run(ctx, id)
	if errors.Is(err, bundle.ErrNoBundle) {
		return run, nil, noRun(id)
	}
	if err != nil {
		return run, nil, err
	}
	run.PublishedAt = cmp.Or(run.PublishedAt, run.EndedAt)
	blocks, err := archive.Blocks(ctx, id)
	return run, blocks, err
}

// addReport adds what the storage has of a run that is published.
func (s *site) addReport(ctx context.Context, run topicqueue.Run, p *runPage) error {
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
			p.Report = mainOf(body)
		}
	}
	if body, err := s.Store.Get(ctx, storage.MetadataKey(run.ID)); err == nil {
		if f, err := digest.Read(body); err == nil && f.Usage.Calls > 0 {
			p.Facts = append(p.Facts, facts("Cost", fmt.Sprintf("%d model calls, %d tokens, %.2f USD", f.Usage.Calls,
				f.Usage.Tokens, f.Usage.CostUSD))...)
		}
	}
	var err error
	p.Sources, err = s.sources(ctx, run.ID)
	return err
}

// mainOf returns the body of a report's page, which formats.HTML has made: every text in it is escaped, and it loads
// and runs nothing.
func mainOf(page []byte) template.HTML {
	_, rest, _ := bytes.Cut(page, []byte("<main>"))
	body, _, ok := bytes.Cut(rest, []byte("</main>"))
	if !ok {
		return ""
	}
	return template.HTML(body)
}

// storedSource is what a bundle says of a source.
type storedSource struct {
	ID        string    `json:"source_id"`
	Kind      string    `json:"kind"`
	Title     string    `json:"title"`
	URL       string    `json:"url"`
	Document  string    `json:"document"`
	Section   []string  `json:"section"`
	Authors   []string  `json:"authors"`
	Publisher string    `json:"publisher"`
	Published string    `json:"published"`
	SHA256    string    `json:"sha256"`
	Read      time.Time `json:"retrieved_at"`
	Cited     bool      `json:"cited"`
}

// storedClaim is what a bundle says of a claim. Start and End are bytes of the source's text.
type storedClaim struct {
	Citation string `json:"citation_id"`
	Source   string `json:"source_id"`
	Text     string `json:"text"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
}

// lines reads a file of a bundle that has a JSON object in each line.
func lines[T any](ctx context.Context, store storage.Store, key string) (out []T, err error) {
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

// sources lists those that a report cites.
func (s *site) sources(ctx context.Context, runID string) (out []sourceLine, err error) {
	all, err := lines[storedSource](ctx, s.Store, storage.CacheKey(runID, "sources.jsonl"))
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	for _, source := range all {
		if source.Cited && source.SHA256 != "" {
			out = append(out, sourceLine{source.name(), name(runID) + "/sources/" + name(source.ID), source.about()})
		}
	}
	return out, err
}

func (s storedSource) name() string {
	title := cmp.Or(s.Title, s.Document, s.URL)
	if n := len(s.Section); n > 0 && s.Section[n-1] != title {
		title += ", " + s.Section[n-1]
	}
	return topicqueue.Clip(title, 200)
}

// about says who wrote a source and when.
func (s storedSource) about() string {
	var parts []string
	for _, part := range []string{strings.Join(s.Authors, ", "), s.Publisher, s.Published} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

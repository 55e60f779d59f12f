package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// markOf returns a hash that identifies a draft.
func markOf(d desk.Draft) string {
	d.List = strings.ReplaceAll(d.List, "\r\n", "\n") // browsers send CRLF line ends
	return topicqueue.TextHash(fmt.Sprintf("%q", d))
}

// Mark returns the mark of the draft, for a hidden field of the form.
func (p newPage) Mark() string { return markOf(p.Draft) }

// maxList is the maximum size in bytes of a list from a page. The command accepts larger ones.
const maxList = 4 << 20

// newPage is the data of the page for new research.
type newPage struct {
	desk.Draft
	Topics, Known int      // number of new topics, and of those that the batch had already
	Problems      []string // by line; if there are any, nothing was enqueued
	Said          string   // summary of duplicates, calls, cost and time, as the command prints it
	bases.BaseList
	Presets, Formats []string
	Checked, Ready   bool
	Wrong, Do        string // why the draft cannot be enqueued, and what to do
	Enqueued         bool
	BatchURL         string
}

func (s *site) newResearch(ctx context.Context, _ *http.Request) (string, any, error) {
	p, err := s.newPage(ctx, desk.Draft{Format: "auto"})
	return "New research", p, err
}

func (s *site) newPage(ctx context.Context, d desk.Draft) (p newPage, err error) {
	p = newPage{Draft: d, Presets: desk.Presets(), Formats: []string{"auto", "text", "csv", "jsonl"}}
	p.BaseList, err = s.Bases().List(ctx)
	return p, err
}

// draft checks a list. It enqueues the list if the form requests that and the list was not changed after the check.
func (s *site) draft(ctx context.Context, r *http.Request) (string, any, error) {
	if err := r.ParseMultipartForm(maxList); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", nil, wrong("This list cannot be read: " + err.Error() +
			". A list for this page has at most 4 MB; `nightdesk enqueue` takes longer ones.")
	}
	d := desk.Draft{List: r.PostFormValue("list"), Format: r.PostFormValue("format"), Preset: r.PostFormValue("preset"),
		KB: r.PostFormValue("kb"), Language: strings.TrimSpace(r.PostFormValue("language")),
		Batch: strings.TrimSpace(r.PostFormValue("batch"))}
	if file, _, err := r.FormFile("file"); err == nil {
		body, err := io.ReadAll(file)
		if file.Close(); err != nil {
			return "", nil, wrong("The file cannot be read: " + err.Error())
		}
		if len(body) > 0 {
			d.List = strings.ToValidUTF8(string(body), "\ufffd")
		}
	}
	if d.Batch == "" { // set before enqueueing, so that a double submit enqueues once
		d.Batch = desk.NewBatchName("page_", time.Now())
	}
	seen := r.PostFormValue("seen") == markOf(d) // otherwise it was changed after it was shown
	enqueue := r.PostFormValue("do") == "enqueue" && seen
	p, err := s.newPage(ctx, d)
	if err != nil {
		return "", nil, err
	}
	if enqueue {
		var made desk.Enqueued
		made, err = s.EnqueueDraft(ctx, d)
		p.Topics, p.Known, p.Said = made.Created, made.Known, strings.Join(made.Notes, "\n")
	} else {
		p.Topics, p.Said, err = s.CheckDraft(ctx, d)
	}
	var lines *intake.LinesError
	switch {
	case errors.As(err, &lines):
		p.Problems, p.Wrong, p.Do = lines.Lines, "Some lines cannot be enqueued.",
			"Correct them below. Nothing was enqueued."
	case view.IsUsage(err):
		p.Wrong, p.Do = err.Error(), cmp.Or(view.HintOf(err), "Correct the order. Nothing was enqueued.")
	case err != nil:
		return "", nil, err
	case enqueue:
		p.Enqueued, p.BatchURL = true, "./batches/"+name(d.Batch)
	default:
		p.Ready = p.Topics > 0
	}
	p.Checked = true
	return "New research", p, nil
}

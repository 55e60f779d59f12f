package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/topicqueue"
)

// Draft is a list of topics with their common options. Empty options take their values from the settings.
type Draft struct {
	List     string // content as in a file to enqueue
	Format   string // auto, text, csv or jsonl
	Preset   string
	KB       string // name of a knowledge base
	Language string
	Batch    string // target batch; enqueueing the same list again adds nothing to it
}

// Drafted is the result of checking or enqueueing a draft.
type Drafted struct {
	Topics   int      // number of new topics
	Known    int      // number of topics already in the batch
	Problems []string // by line; if there are any, nothing was enqueued
	Said     string   // summary of duplicates, calls, cost and time, as the command prints it
}

// mark returns a hash that identifies the draft.
func (d Draft) mark() string {
	d.List = strings.ReplaceAll(d.List, "\r\n", "\n") // browsers send CRLF line ends
	return topicqueue.TextHash(fmt.Sprintf("%q", d))
}

// Mark returns the mark of the draft, for a hidden field of the form.
func (p newPage) Mark() string { return p.Draft.mark() }

// maxList is the maximum size in bytes of a list from a page. The command accepts larger ones.
const maxList = 4 << 20

// newPage is the data of the page for new research.
type newPage struct {
	Draft
	Drafted
	bases.BaseList
	Presets, Formats []string
	Checked, Ready   bool
	Wrong, Do        string // why the draft cannot be enqueued, and what to do
	Enqueued         bool
	BatchURL         string
}

// intakePages accept new topics.
type intakePages struct {
	check   func(ctx context.Context, d Draft, enqueue bool) (Drafted, error)
	presets []string
	bases   *bases.Bases
}

func (s intakePages) newResearch(ctx context.Context, _ *http.Request) (string, any, error) {
	p, err := s.newPage(ctx, Draft{Format: "auto"})
	return "New research", p, err
}

func (s intakePages) newPage(ctx context.Context, d Draft) (p newPage, err error) {
	p = newPage{Draft: d, Presets: s.presets, Formats: []string{"auto", "text", "csv", "jsonl"}}
	p.BaseList, err = s.bases.List(ctx)
	return p, err
}

// draft checks a list. It enqueues the list if the form requests that and the list was not changed after the check.
func (s intakePages) draft(ctx context.Context, r *http.Request) (string, any, error) {
	if err := r.ParseMultipartForm(maxList); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", nil, wrong("This list cannot be read: " + err.Error() +
			". A list for this page has at most 4 MB; `nightdesk enqueue` takes longer ones.")
	}
	d := Draft{List: r.PostFormValue("list"), Format: r.PostFormValue("format"), Preset: r.PostFormValue("preset"),
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
		d.Batch = "page_" + time.Now().UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
	}
	seen := r.PostFormValue("seen") == d.mark() // otherwise it was changed after it was shown
	enqueue := r.PostFormValue("do") == "enqueue" && seen
	p, err := s.newPage(ctx, d)
	if err != nil {
		return "", nil, err
	}
	p.Drafted, err = s.check(ctx, d, enqueue)
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		p.Wrong, p.Do = problem.Detail, problem.Do
	case err != nil:
		return "", nil, err
	case len(p.Problems) > 0:
		p.Wrong, p.Do = "Some lines cannot be enqueued.", "Correct them below. Nothing was enqueued."
	case enqueue:
		p.Enqueued, p.BatchURL = true, "./batches/"+name(d.Batch)
	default:
		p.Ready = p.Topics > 0
	}
	p.Checked = true
	return "New research", p, nil
}

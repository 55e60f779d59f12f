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

	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/topicqueue"
)

// Draft is a list of topics with what holds for all of them. Empty options are those of the settings.
type Draft struct {
	List     string // as a file that is enqueued has it
	Format   string // auto, text, csv or jsonl
	Preset   string
	KB       string // name of a knowledge base
	Language string
	Batch    string // into which it goes; the same list again adds nothing to it
}

// Drafted is what a list would become, or has become.
type Drafted struct {
	Topics   int      // new ones
	Known    int      // that the batch had already
	Problems []string // by line; then nothing was enqueued
	Said     string   // duplicates, calls, cost and time, as the command says them
}

// mark tells drafts apart.
func (d Draft) mark() string {
	d.List = strings.ReplaceAll(d.List, "\r\n", "\n") // as browsers send what they were given
	return topicqueue.TextHash(fmt.Sprintf("%q", d))
}

// Mark is for the form on which a draft is shown.
func (p newPage) Mark() string { return p.Draft.mark() }

// maxList bounds a list that comes from a page, in bytes; longer ones are for the command.
const maxList = 4 << 20

// newPage is the page of new research.
type newPage struct {
	Draft
	Drafted
	Presets, Bases []string
	Formats        []string
	Checked, Ready bool
	Wrong, Do      string // why it cannot be enqueued, and what to do
	Enqueued       bool
	BatchURL       string
}

// intakePages take new topics.
type intakePages struct {
	check   func(ctx context.Context, d Draft, enqueue bool) (Drafted, error)
	presets []string
	bases   func() ([]string, error)
}

func (s intakePages) newResearch(context.Context, *http.Request) (string, any, error) {
	p, err := s.newPage(Draft{Format: "auto"})
	return "New research", p, err
}

func (s intakePages) newPage(d Draft) (p newPage, err error) {
	p = newPage{Draft: d, Presets: s.presets, Formats: []string{"auto", "text", "csv", "jsonl"}}
	p.Bases, err = s.bases()
	return p, err
}

// draft checks a list, or puts it into the queue when the page that it was checked on says so.
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
	if d.Batch == "" { // chosen before the list is enqueued, so that pressing twice enqueues once
		d.Batch = "page_" + time.Now().UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
	}
	seen := r.PostFormValue("seen") == d.mark() // else it was changed after it was shown
	enqueue := r.PostFormValue("do") == "enqueue" && seen
	p, err := s.newPage(d)
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

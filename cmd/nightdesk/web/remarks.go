package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"nightdesk/jobs/history"
	"nightdesk/topicqueue"
)

// remarksPage is the data of the page.
type remarksPage struct {
	Topic, RunURL  string
	Sentence, Find string // the sentence that the form is about, and its check result
	Kept           bool
	Remarks        []topicqueue.Remark
}

// page lists the remarks about a report and shows a form for a new one. ?sentence is the number of the checked
// sentence that the remark is about, counted from 1.
func (p *site) remarks(ctx context.Context, r *http.Request) (string, any, error) {
	run, err := p.reported(ctx, r)
	if err != nil {
		return "", nil, err
	}
	out := remarksPage{Topic: topicqueue.OneLine(run.Topic), RunURL: "../" + name(run.ID), Kept: r.URL.Query().Has("kept")}
	if n, err := strconv.Atoi(r.URL.Query().Get("sentence")); err == nil {
		v, err := p.Verification(ctx, run.ID)
		if err != nil {
			return "", nil, err
		}
		if n < 1 || n > len(v.Sentences) {
			return "", nil, notHere("The report has no such sentence.")
		}
		out.Sentence, out.Find = cells(v.Sentences[n-1].Text), whyOf(v.Sentences[n-1])
	}
	out.Remarks, err = history.Remarks(ctx, p.Store, run)
	return "Remarks: " + out.Topic, out, err
}

// keep stores a remark and returns the URL of the list.
func (p *site) keepRemark(ctx context.Context, r *http.Request) (string, error) {
	run, err := p.reported(ctx, r)
	if err != nil {
		return "", err
	}
	if err := r.ParseForm(); err != nil {
		return "", wrong("This form cannot be read: " + err.Error())
	}
	err = history.Remark(ctx, p.Store, run, topicqueue.Remark{At: time.Now(), By: r.PostForm.Get("by"),
		Sentence: r.PostForm.Get("sentence"), Words: r.PostForm.Get("words")})
	if errors.Is(err, history.ErrNoWords) {
		return "", wrong("Say what is wrong: the remark had no words.")
	}
	return "./remarks?kept", err
}

// reported returns the run in the URL. The run must have a report.
func (p *site) reported(ctx context.Context, r *http.Request) (topicqueue.Run, error) {
	run, err := p.Find(ctx, r.PathValue("run"))
	if err == nil && run.Report == "" {
		err = notHere("Run " + run.ID + " has no report.")
	}
	return run.Run, err
}

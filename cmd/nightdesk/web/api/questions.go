package api

import (
	"context"
	"net/http"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
)

// questions serves the endpoint for questions about reports.
type questions struct {
	find func(ctx context.Context, run string) (topicqueue.Run, []topicqueue.Block, error)
	// ask enqueues a question about a run and returns the run that will answer it.
	ask func(ctx context.Context, about topicqueue.Run, question string) (topicqueue.Run, error)
}

// Ask is a question about a report.
type Ask struct {
	Question string `json:"question"`
}

func (q questions) endpoints() []endpoint {
	return []endpoint{{method: http.MethodPost, path: "/runs/{run}/ask", id: "askRun", params: []param{runParam},
		about: "Ask about a report. The answer is the report of the run that is returned, made from what the run asked " +
			"about has read; it is ready when that run has ended",
		body: Ask{}, answer: Run{}, do: q.put,
		refusals: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}}}
}

func (q questions) put(c *call) (any, error) {
	question := c.body.(*Ask).Question
	if err := tasks.CheckTopic(question); err != nil {
		return nil, problem(http.StatusUnprocessableEntity, "Ask in other words.", "%v", err)
	}
	about, _, err := q.find(c.Context(), c.PathValue("run"))
	if err != nil {
		return nil, err
	}
	if about.Report == "" || about.PublishedAt.IsZero() {
		return nil, problem(http.StatusConflict, "/v1/runs/"+about.ID+" says how far the run is.",
			"run %s has no report yet", about.ID)
	}
	answering, err := q.ask(c.Context(), about, question)
	if err != nil {
		return nil, err
	}
	return runOf(answering), nil
}

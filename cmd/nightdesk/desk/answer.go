package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// AnswerRequest is the answer to a question of a run.
type AnswerRequest struct {
	RunRequest
	Text   string `json:"text" jsonschema:"empty: the run continues without an answer"`
	Number int    `json:"number,omitempty" jsonschema:"of the question, counted from 1; absent: the last one"`
}

// Answered is a question with its answer.
type Answered struct {
	RunID string `json:"run_id"`
	topicqueue.Question
	topicqueue.Reply
}

// Answer answers a question of a run. The same answer to the same question again changes nothing and is no error, so
// that a caller who does not know whether it arrived can repeat it. Any other answer to it is refused.
func (d *Desk) Answer(ctx context.Context, r AnswerRequest) (out Answered, err error) {
	if out.Reply, err = topicqueue.NewReply(r.Text); err != nil {
		return out, view.Usage(err)
	}
	changed, err := d.ChangeRun(ctx, r.RunID, func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		number := cmp.Or(r.Number, len(run.Dialogue))
		if number < 1 || number > len(run.Dialogue) {
			return notAsked(run)
		}
		out.Question = run.Dialogue[number-1].Question
		err := c.Answer(ctx, run, number, out.Reply)
		if errors.Is(err, redisqueue.ErrStale) {
			if run, err = c.Queue.Run(ctx, run.ID); err == nil {
				err = tasks.Refusal(Outcome(run, number))
			}
		}
		return err
	})
	out.RunID = changed.RunID
	return out, err
}

// Waiting returns the question that a run waits for, and its number. The error says so if it waits for none.
func (d *Desk) Waiting(ctx context.Context, r RunRequest) (q topicqueue.Exchange, number int, err error) {
	_, err = d.ChangeRun(ctx, r.RunID, func(_ tasks.Controls, _ context.Context, run topicqueue.Run) error {
		if number, q = run.Waiting(); number > 0 {
			return nil
		}
		return notAsked(run)
	})
	return q, number, err
}

// notAsked refuses an answer that a run does not wait for.
func notAsked(run topicqueue.Run) tasks.Refusal {
	if n := len(run.Dialogue); n > 0 {
		return tasks.Refusal(Outcome(run, n))
	}
	return tasks.Refusal("it has asked nothing; it is " + string(run.State))
}

// Outcome describes what became of a question of a run, by its number.
func Outcome(run topicqueue.Run, number int) string {
	if number > len(run.Dialogue) {
		return "the run waits no more"
	}
	e := run.Dialogue[number-1]
	at := e.AnsweredAt.Local().Format("15:04:05")
	switch e.Outcome {
	case topicqueue.ReplyMissed:
		return fmt.Sprintf("no answer until %s; the run has continued without one", at)
	case topicqueue.ReplyDeclined:
		return fmt.Sprintf("the question was declined at %s", at)
	case topicqueue.ReplyAnswered:
		return fmt.Sprintf("the question was answered at %s", at)
	}
	return "the run is no longer waiting: it is " + string(run.State)
}

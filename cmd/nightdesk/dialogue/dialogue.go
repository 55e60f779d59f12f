// Package dialogue asks a person the questions of a run of this process: at the terminal, or through a configured
// command or URL.
//
// Entry points: [Enable] and [Asker].
package dialogue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

// answerTime is how long a question waits for an answer before the run continues without one. It is long enough to read
// a plan, and short enough that a run whose user has left still ends in time.
const answerTime = 5 * time.Minute

// Enable enables questions for a run of this process, if there is someone to ask: at a terminal, or through the
// configured command or URL.
func Enable(o *topicqueue.Options, cfg config.Config, con *view.Console) error {
	human := cfg.Planning.Human
	custom := human.InputMethod == config.InputCustom
	if custom && strings.TrimSpace(human.Input) == "" {
		return view.Usage(view.Hint(errors.New("planning.user_input_method is custom, but planning.user_input is "+
			"not set"),
			"Set planning.user_input to a command or a URL, or planning.user_input_method to terminal."))
	}
	if human.InTheLoop && cfg.LLM.Enabled() && (custom || con.Interactive()) {
		o.HumanInTheLoop, o.AnswerTime, o.ApprovePlan = true, answerTime, human.ApprovePlan
	}
	return nil
}

// Asker shows a run, asks a person its questions and passes the answers back.
type Asker struct {
	*view.RunScreen
	Console *view.Console
	Desk    *desk.Desk
	Human   config.Human

	asked    int // number of the last question asked
	terminal lines
}

// Show implements watch.Viewer.
func (a *Asker) Show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	n, question := run.Waiting()
	if n > 0 { // the question is shown below
		events = slices.DeleteFunc(events, func(e topicqueue.Event) bool { return e.Status == topicqueue.StatusWait })
	}
	if err := a.RunScreen.Show(ctx, run, events); err != nil || n <= a.asked {
		return err
	}
	a.asked = n
	a.End()
	if a.Human.InputMethod == config.InputCustom {
		return a.askCustom(ctx, run, n, question)
	}
	return a.askTerminal(ctx, run, n, question)
}

// give submits an answer to the run. It retries every second while Redis is unavailable. It returns an error of the
// kind [view.Misuse] for a text that is no answer.
func (a *Asker) give(ctx context.Context, run topicqueue.Run, number int, text string) error {
	for {
		_, err := a.Desk.Answer(ctx, desk.AnswerRequest{RunRequest: desk.RunRequest{RunID: run.ID}, Text: text,
			Number: number})
		switch {
		case err == nil, view.KindOf(err) == view.Misuse:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case view.KindOf(err) == view.Conflict:
			a.Console.Say("the answer came too late: the run has continued without it")
			return nil
		}
		a.Console.Say("the answer is not stored yet: %v", err)
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// CancelWaiting cancels a run that was interrupted while waiting for an answer. It reports whether it did.
func (a *Asker) CancelWaiting(ctx context.Context, runID string, grace time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if _, _, err := a.Desk.Waiting(ctx, desk.RunRequest{RunID: runID}); err != nil {
		return false
	}
	cancelRun := desk.Cancel(desk.CancelOptions{Reason: "interrupted at a question"})
	_, err := a.Desk.ChangeRun(ctx, runID, cancelRun)
	return err == nil
}

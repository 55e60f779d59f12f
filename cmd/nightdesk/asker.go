package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/watch"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/planning"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// askPerson enables questions to a person for a run of this process, if there is someone to ask: at a terminal, or
// through the configured command or URL.
func askPerson(o *topicqueue.Options, s *session) error {
	human := s.cfg.Planning.Human
	custom := human.InputMethod == config.InputCustom
	if custom && strings.TrimSpace(human.Input) == "" {
		return view.Usage(view.Hint(errors.New("planning.user_input_method is custom, but planning.user_input is "+
			"not set"),
			"Set planning.user_input to a command or a URL, or planning.user_input_method to terminal."))
	}
	if human.InTheLoop && s.cfg.LLM.Enabled() && (custom || s.Interactive()) {
		o.HumanInTheLoop, o.AnswerTime, o.ApprovePlan = true, human.WaitTime, human.ApprovePlan
	}
	return nil
}

// A question that is shown is looked up again after a pause, because it can be answered elsewhere.
const (
	questionPause = 500 * time.Millisecond
	questionTime  = 3 * time.Second // timeout of one look
)

// asker shows a run, asks a person its questions and passes the answers back.
type asker struct {
	*view.RunScreen
	con   *view.Console
	desk  *wiring.Desk
	human config.Human
	asked int         // number of the last question asked
	typed chan string // lines from the terminal; closed at end of input
	lines *bufio.Scanner
	reads bool // a goroutine is reading a line into typed
}

// Show implements watch.Viewer.
func (a *asker) Show(ctx context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	n, question := run.Waiting()
	if n > 0 { // the question is shown below
		events = withoutWait(events)
	}
	if err := a.RunScreen.Show(ctx, run, events); err != nil || n <= a.asked {
		return err
	}
	a.asked = n
	a.End()
	if a.human.InputMethod == config.InputCustom {
		return a.askCustom(ctx, run, n, question)
	}
	return a.askTerminal(ctx, run, n, question)
}

func withoutWait(events []topicqueue.Event) []topicqueue.Event {
	var out []topicqueue.Event
	for _, e := range events {
		if e.Status != topicqueue.StatusWait {
			out = append(out, e)
		}
	}
	return out
}

// askTerminal shows a question and waits for a line, an answer from elsewhere, or the end of the waiting time.
func (a *asker) askTerminal(ctx context.Context, run topicqueue.Run, number int, q topicqueue.Exchange) error {
	prompt := func() { fmt.Fprint(a.con.Err, "Your answer: ") }
	lines := []string{"", "Before the research begins:", ""}
	plan := q.Kind == topicqueue.AskPlan
	if plan {
		lines[1] = "The research is planned so:"
	}
	for line := range strings.Lines(q.Question.Text) {
		lines = append(lines, "  "+strings.TrimRight(line, " \n"))
	}
	until := ""
	if !q.Until.IsZero() {
		until = " The run waits until " + q.Until.Local().Format("15:04:05") + "."
	}
	how := "Press Enter to continue without an answer. Ctrl-C ends the run."
	if plan {
		how = "Press Enter to approve it or e to edit it, or type what to change. Ctrl-C ends the run."
	}
	lines = append(lines, "", how+until)
	if err := view.PrintLines(a.con.Err, lines); err != nil {
		return err
	}
	if f, ok := a.con.In.(*os.File); ok && !a.reads { // discard what was typed before the question
		dropTyped(f)
	}
	prompt()
	a.read()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.con.Err)
			return context.Cause(ctx)
		case line, open := <-a.typed:
			a.reads = !open // at end of input, prevent further reads
			if !open {
				fmt.Fprintln(a.con.Err)
			}
			if plan && strings.TrimSpace(line) == "e" {
				var err error
				if line, err = edited(ctx, a.con, q.Question.Text); err != nil {
					a.con.Say("%v", err)
					prompt()
					a.read()
					continue
				}
			}
			reply, err := topicqueue.NewReply(line)
			if err != nil {
				a.con.Say("%v", err)
				prompt()
				a.read()
				continue
			}
			return a.give(ctx, run.ID, number, reply)
		case <-time.After(questionPause):
		}
		lookCtx, cancel := context.WithTimeout(ctx, questionTime)
		now, err := a.desk.Queue.Run(lookCtx, run.ID)
		cancel()
		if waits, _ := now.Waiting(); err == nil && waits != number {
			fmt.Fprintln(a.con.Err)
			a.con.Say("%s", whatBecame(now, number))
			return nil
		}
	}
}

// read starts reading a single line from the terminal; reading more would take input from an editor. A blocked read
// cannot be cancelled, so its line answers the next question.
func (a *asker) read() {
	if a.typed == nil {
		a.typed, a.lines = make(chan string), bufio.NewScanner(a.con.In)
	} else if a.reads {
		return
	}
	a.reads = true
	go func() {
		if !a.lines.Scan() {
			close(a.typed)
			return
		}
		a.typed <- a.lines.Text()
	}()
}

// edited opens a text in the editor named by VISUAL or EDITOR and returns the result, or "" if it is unchanged.
func edited(ctx context.Context, con *view.Console, text string) (string, error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "nightdesk-plan-*.md")
	if err != nil {
		return "", fmt.Errorf("make a file for the editor: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write the plan for the editor: %w", err)
	}
	// As usual, the setting is a shell command line; the file is its last argument.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = con.In, con.Err, con.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run the editor %q: %w; set EDITOR to an installed one", editor, err)
	}
	body, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fmt.Errorf("read the edited file: %w", err)
	}
	if string(body) == text {
		return "", nil
	}
	if _, err := planning.ParseShown(string(body)); err != nil {
		return "", fmt.Errorf("the plan cannot be used: %w", err)
	}
	return string(body), nil
}

// give submits a reply to the run. It retries every second while Redis is unavailable.
func (a *asker) give(ctx context.Context, runID string, number int, reply topicqueue.Reply) error {
	for {
		intents, err := a.desk.Queue.Answer(ctx, runID, number, reply)
		if err == nil {
			err = a.desk.Dispatcher.Dispatch(ctx, intents)
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, redisqueue.ErrStale):
			a.con.Say("the answer came too late: the run has continued without it")
			return nil
		}
		a.con.Say("the answer is not stored yet: %v", err)
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// whatBecame describes the outcome of a question.
func whatBecame(run topicqueue.Run, number int) string {
	if number > len(run.Dialogue) {
		return "the run waits no more"
	}
	e := run.Dialogue[number-1]
	at := e.AnsweredAt.Local().Format("15:04:05")
	switch {
	case e.Outcome == topicqueue.ReplyMissed:
		return fmt.Sprintf("no answer until %s; the run has continued without one", at)
	case e.Outcome == topicqueue.ReplyDeclined:
		return fmt.Sprintf("the question was declined at %s", at)
	case e.Outcome == topicqueue.ReplyAnswered:
		return fmt.Sprintf("the question was answered at %s", at)
	}
	return "the run is no longer waiting: it is " + string(run.State)
}

// question is the JSON document that the command or URL of planning.user_input receives.
type question struct {
	RunID  string    `json:"run_id"`
	Topic  string    `json:"topic"`
	Number int       `json:"number"`
	Kind   string    `json:"kind"`
	Text   string    `json:"question"`
	Until  time.Time `json:"until,omitzero"`
}

// askCustom asks the configured command or URL. If that fails, it prints a warning, and the run continues without an
// answer.
func (a *asker) askCustom(ctx context.Context, run topicqueue.Run, number int, q topicqueue.Exchange) error {
	body, err := json.Marshal(question{run.ID, run.Topic, number, q.Kind, q.Question.Text, q.Until})
	if err != nil {
		return fmt.Errorf("encode a question: %w", err)
	}
	a.con.Say("asking %s: %s", customName(a.human.Input), topicqueue.OneLine(q.Question.Text))
	askCtx, cancel := ctx, context.CancelFunc(func() {})
	if !q.Until.IsZero() {
		askCtx, cancel = context.WithDeadline(ctx, q.Until)
	}
	defer cancel()
	ask := runCommandForAnswer
	if strings.HasPrefix(a.human.Input, "http://") || strings.HasPrefix(a.human.Input, "https://") {
		ask = post
	}
	answer, err := ask(askCtx, a.human.Input, body)
	var reply topicqueue.Reply
	if err == nil {
		reply, err = topicqueue.NewReply(answer)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.con.Warn("no answer from %s, the run continues without one: %v", customName(a.human.Input), err)
		reply = topicqueue.Reply{Outcome: topicqueue.ReplyDeclined}
	}
	return a.give(ctx, run.ID, number, reply)
}

// customName names the command or URL without showing secrets in it.
func customName(input string) string {
	if before, _, ok := strings.Cut(input, "://"); ok && (before == "http" || before == "https") {
		return "the URL of planning.user_input"
	}
	return "the command of planning.user_input"
}

// maxAnswerRead exceeds the maximum length of an answer by one byte, so that longer answers are detected.
const maxAnswerRead = topicqueue.MaxAnswer + 1

// runCommandForAnswer runs a shell command with the question on its standard input and returns its standard output.
func runCommandForAnswer(ctx context.Context, command string, question []byte) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second // child processes may hold the pipes open
	cmd.Stdin = bytes.NewReader(question)
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", errors.New("its time was used up")
		}
		if text := topicqueue.OneLine(string(said.kept)); text != "" {
			return "", fmt.Errorf("%w: %s", err, topicqueue.Clip(text, 300))
		}
		return "", err
	}
	return string(out.kept), nil
}

// limited keeps the first maxAnswerRead bytes written to it.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), maxAnswerRead-len(l.kept))]...)
	return len(p), nil
}

// post posts the question to a URL and returns the response body.
func post(ctx context.Context, url string, question []byte) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return "", errors.New("it is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if ctx.Err() != nil {
		return "", errors.New("its time was used up")
	}
	if err != nil {
		return "", errors.Unwrap(err) // without the URL
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return "", fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerRead))
	return string(answer), err
}

// cancelWaiting cancels a run that was interrupted while waiting for an answer. It reports whether it did.
func (a *asker) cancelWaiting(ctx context.Context, runID string, usable func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptGrace)
	defer cancel()
	run, err := a.desk.Queue.Run(ctx, runID)
	if n, _ := run.Waiting(); err != nil || n == 0 {
		return false
	}
	intents, err := a.desk.Queue.Cancel(ctx, runID, "interrupted at a question", false)
	if err == nil {
		err = a.desk.Dispatcher.Dispatch(ctx, intents)
	}
	if err != nil {
		return false
	}
	_ = watch.AwaitPublished(ctx, a.desk.Queue, runID, usable, a) // best effort: missing files do no harm
	return true
}

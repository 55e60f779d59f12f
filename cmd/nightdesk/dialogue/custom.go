package dialogue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

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
func (a *Asker) askCustom(ctx context.Context, run topicqueue.Run, number int, q topicqueue.Exchange) error {
	body, err := json.Marshal(question{run.ID, run.Topic, number, q.Kind, q.Question.Text, q.Until})
	if err != nil {
		return fmt.Errorf("encode a question: %w", err)
	}
	a.Console.Say("asking %s: %s", customName(a.Human.Input), topicqueue.OneLine(q.Question.Text))
	askCtx, cancel := ctx, context.CancelFunc(func() {})
	if !q.Until.IsZero() {
		askCtx, cancel = context.WithDeadline(ctx, q.Until)
	}
	defer cancel()
	ask := runCommandForAnswer
	if strings.HasPrefix(a.Human.Input, "http://") || strings.HasPrefix(a.Human.Input, "https://") {
		ask = post
	}
	answer, err := ask(askCtx, a.Human.Input, body)
	if err == nil {
		err = a.give(ctx, run, number, answer)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	}
	a.Console.Warn("no answer from %s, the run continues without one: %v", customName(a.Human.Input), err)
	return a.give(ctx, run, number, "")
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

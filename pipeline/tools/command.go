package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Environment returns the environment for the programs of own tools: a few variables of this process, and the given
// variables. It leaves out the keys of models and services.
func Environment(variables []string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ", "SystemRoot"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, variables...)
}

// Command returns the Do function of a tool that is a program. The program gets the arguments on standard input, and
// its standard output is the answer. argv: program and arguments, no shell. env: as NAME=value.
func Command(argv, env []string) func(context.Context, json.RawMessage) (Output, error) {
	return func(ctx context.Context, arguments json.RawMessage) (Output, error) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Stdin, cmd.WaitDelay = Environment(env), bytes.NewReader(append(arguments, '\n')), time.Second
		cmd.Cancel = OwnGroup(cmd)
		out := &bounded{most: maxOwnOutput, full: func() { stop(errTooLong) }}
		said := &bounded{most: 4_000, full: func() {}}
		cmd.Stdout, cmd.Stderr = out, said
		err := cmd.Run()
		if cause := context.Cause(ctx); cause != nil {
			return Output{}, cause
		}
		if err != nil {
			why := strings.TrimSpace(string(said.kept))
			why = topicqueue.OneLine(why[strings.LastIndexByte(why, '\n')+1:])
			if why == "" {
				return Output{}, err
			}
			return Output{}, fmt.Errorf("%w: %s", err, why)
		}
		return ReadOutput(out.kept), nil
	}
}

var errTooLong = fmt.Errorf("its answer has more than %d MB and was not read; ask for less", maxOwnOutput>>20)

// bounded keeps the start of the written data, and calls full if there is more. It does not embed a bytes.Buffer,
// whose ReadFrom would read without bounds.
type bounded struct {
	kept []byte
	most int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	if len(p) > room {
		b.full()
	}
	return len(p), nil
}

// Service returns the Do function of a tool that is an HTTP service. The arguments are the body of a POST, and the
// response body is the answer. client can reach only this service.
func Service(client *fetch.Client, address string, header http.Header) func(context.Context,
	json.RawMessage) (Output, error) {
	return func(ctx context.Context, arguments json.RawMessage) (Output, error) {
		h := header.Clone()
		if h == nil {
			h = http.Header{}
		}
		h.Set("Content-Type", "application/json")
		resp, err := client.Do(ctx, fetch.Request{Method: http.MethodPost, URL: address, Header: h, Body: arguments,
			MaxBytes: maxOwnOutput})
		var refused *fetch.RefusedError
		if errors.As(err, &refused) {
			return Output{}, errors.New("its service cannot be reached: " + refused.Detail)
		}
		if err != nil {
			return Output{}, err
		}
		return ReadOutput(resp.Body), nil
	}
}

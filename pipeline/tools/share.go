package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Shared lets the calls of all workers share answers.
type Shared interface {
	// Do returns the value stored under key, else the value that another caller is making, else the value that call
	// returns. made reports whether call was made. The context of call has the values of ctx and may outlive it. The
	// error is context.Cause(ctx) or that of call.
	Do(ctx context.Context, key string,
		call func(context.Context) (topicqueue.Made, error)) (value []byte, made bool, err error)
	// Forget deletes the entry of key if it still has this value.
	Forget(ctx context.Context, key string, value []byte)
}

// Scope names the groups that share answers. An empty name means that answers are not shared.
type Scope struct {
	Public  string // for public content: the web, papers, pages
	Private string // for the knowledge base
}

// scope is the group of a Scope that shares the answers of a tool.
type scope int

const (
	public scope = iota + 1
	private
)

// of returns the name of the group that shares the answers of a tool.
func (s Scope) of(tool string) string {
	switch builtInCalled(tool).scope {
	case public:
		return s.Public
	case private:
		return s.Private
	}
	return ""
}

// storeTime is the time that a shared call may take beyond the tool's timeout. shortLife is the maximum lifetime of
// shared failures and private answers: a missing page may appear, and a run does not last longer.
const (
	storeTime = time.Minute
	shortLife = time.Hour
	copies    = 4 // texts of a shared answer that are copied in parallel
)

// sharedAnswer is the stored form of an answer. Its texts are in the bundle of the run that made it.
type sharedAnswer struct {
	RunID  string `json:"run_id"`
	Answer Answer `json:"answer"`
}

// shared makes a call, or returns the shared answer of an equal call.
func (r *Runner) shared(ctx context.Context, runID, tool string, call Call) (Answer, error) {
	scope, form := r.Scope.of(tool), Key(tool, call.Query)
	if r.Shared == nil || r.Lifetime <= 0 || scope == "" || form == "" {
		return r.call(ctx, runID, tool, call)
	}
	key := scope + "\x00" + form
	if call.Known != (fetch.Version{}) { // callers with the same version share the result
		key += "\x00" + call.Known.ETag + "\x00" + call.Known.LastModified
	}
	for range 2 {
		var answer Answer
		var own []byte
		value, made, err := r.Shared.Do(ctx, key, func(ctx context.Context) (topicqueue.Made, error) {
			m, a, err := r.makeForAll(ctx, runID, tool, call, scope)
			answer, own = a, m.Value
			return m, err
		})
		if err != nil {
			return Answer{}, err
		}
		if made && bytes.Equal(value, own) {
			return answer, nil
		}
		answer, ok, err := r.adopt(ctx, runID, value)
		if err != nil || ok {
			answer.Shared = !made
			return answer, err
		}
		r.Shared.Forget(ctx, key, value)
	}
	return r.call(ctx, runID, tool, call)
}

// makeForAll makes a call whose answer is shared.
func (r *Runner) makeForAll(ctx context.Context, runID, tool string, call Call,
	scope string) (topicqueue.Made, Answer, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout+storeTime)
		defer cancel()
	}
	answer, err := r.call(ctx, runID, tool, call)
	if err != nil {
		return topicqueue.Made{}, Answer{}, err
	}
	value, err := json.Marshal(sharedAnswer{runID, answer})
	if err != nil {
		return topicqueue.Made{}, Answer{}, fmt.Errorf("encode answer of %s: %w", tool, err)
	}
	m := topicqueue.Made{Value: value, Lifetime: r.Lifetime}
	switch {
	case answer.Failed && !answer.Final:
		m.Lifetime = 0
	case answer.Failed, scope == r.Scope.Private:
		m.Lifetime = min(r.Lifetime, shortLife)
	}
	if tool == NameOpenPage && len(answer.Sources) == 1 { // the address after redirects
		if form := Key(tool, answer.Sources[0].URL); form != Key(tool, call.Query) {
			m.Also = []string{scope + "\x00" + form}
		}
		if call.Known != (fetch.Version{}) { // the page was sent in full, so it also answers callers without a version
			m.Also = append(m.Also, scope+"\x00"+Key(tool, call.Query))
		}
	}
	return m, answer, nil
}

// adopt copies the texts of a shared answer into the run's bundle. ok is false if the texts no longer exist.
func (r *Runner) adopt(ctx context.Context, runID string, value []byte) (answer Answer, ok bool, err error) {
	var s sharedAnswer
	if json.Unmarshal(value, &s) != nil {
		return Answer{}, false, nil
	}
	hashes := []string{topicqueue.PageHash(s.Answer.Raw)}
	for _, source := range s.Answer.Sources {
		hashes = append(hashes, source.Hash)
	}
	texts := make([]string, len(hashes))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(copies)
	for i, hash := range hashes {
		group.Go(func() error {
			text, err := r.Pages.Page(groupCtx, s.RunID, hash)
			if err != nil || topicqueue.TextHash(text) != hash {
				return errGone
			}
			texts[i] = text
			return nil
		})
	}
	gone := group.Wait() != nil
	if ctx.Err() != nil {
		return Answer{}, false, context.Cause(ctx)
	}
	if gone {
		return Answer{}, false, nil
	}
	answer = s.Answer
	answer.Text = texts[0]
	for i := range answer.Sources {
		answer.Sources[i].Text = texts[i+1]
	}
	if s.RunID == runID {
		return answer, true, nil
	}
	return answer, true, r.store(ctx, runID, &answer)
}

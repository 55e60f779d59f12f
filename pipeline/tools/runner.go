package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/sources"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// MaxAnswer is the maximum size of the text of one answer, in bytes.
const MaxAnswer = 1 << 20

// Pages stores texts in a run's bundle.
type Pages interface {
	// PutPage stores text as pages/<hash>.txt. hash is topicqueue.TextHash(text); storing the same text again is
	// harmless.
	PutPage(ctx context.Context, runID, hash, text string) error
	// Page returns a stored text.
	Page(ctx context.Context, runID, hash string) (string, error)
}

// Answer is the result of a call, with its text in storage.
type Answer struct {
	Result
	Raw          string        // path of Text in the run's bundle, pages/<sha256>.txt; possibly truncated
	OriginalSize int           // size of the tool's original text, in bytes
	Truncated    bool          // Text was cut to MaxAnswer
	Took         time.Duration // duration of the tool call alone
	Shared       bool          // another call produced the answer
}

// Returned records the sources that the call with this id and query returned. ok is false if it failed or returned
// none.
func (a Answer) Returned(id, tool, query string) (r topicqueue.Returned, ok bool) {
	if a.Failed {
		return r, false
	}
	var read, blank []topicqueue.Source
	for _, s := range a.Sources {
		if strings.TrimSpace(s.Text) == "" {
			blank = append(blank, s)
		} else {
			read = append(read, s)
		}
	}
	r = topicqueue.Returned{ToolID: id, ToolType: tool, Query: query, Sources: slices.Concat(read, named(blank), a.Named)}
	return r, len(r.Sources) > 0
}

// PutReturned stores the sources that calls returned in a run's bundle. It returns the hash that names the stored text,
// or "" without calls. The error is that of Pages.
func (r *Runner) PutReturned(ctx context.Context, runID string, calls []topicqueue.Returned) (hash string, err error) {
	if len(calls) == 0 {
		return "", nil
	}
	text := topicqueue.EncodeReturned(calls)
	hash = topicqueue.TextHash(text)
	if err := r.Pages.PutPage(ctx, runID, hash, text); err != nil {
		return "", fmt.Errorf("store the sources that %s and other calls returned in run %s: %w", calls[0].ToolID, runID, err)
	}
	return hash, nil
}

// ResultLimit is the maximum number of sources from one tool call. Six results with their excerpts fit a note of one
// model call, and engines seldom have more good ones.
const ResultLimit = 6

// Runner calls tools; tools run nowhere else. Safe for concurrent use.
type Runner struct {
	Tools   Set
	Pages   Pages
	Timeout time.Duration   // limit for one call; 0 means no limit besides the context
	Limit   int             // maximum sources per call; 0 means all
	Once    topicqueue.Once // if nil, every call is made
	// Made, if not nil, is called after every call that was made or shared, but not for answers that Once already has.
	Made func(tool string, call Call, began time.Time, answer Answer, err error)

	Shared   Shared // if nil, no answers are shared
	Scope    Scope
	Lifetime time.Duration // how long an answer is shared
}

// errGone means that the texts of a shared answer no longer exist at the stored place.
var errGone = errors.New("shared text no longer exists")

// errTimeout is the cancellation cause of a call's own time limit, to distinguish it from the end of the caller's
// context.
var errTimeout = errors.New("tool call timed out")

// Call runs one tool. Before it returns, it stores the answer and each distinct source text.
//
// Problems that a model can react to, such as an unknown tool, a timeout or a panic, are a Result with Failed set and a
// nil error. The error is the tool's own, context.Cause(ctx) if ctx has ended, or that of Pages; after an error nothing
// may be cited.
//
// A call that an earlier attempt made at the same ToolID is not repeated if its answer can be read. An answer that is
// already shared within the tool's Scope is copied.
func (r *Runner) Call(ctx context.Context, runID, tool string, call Call) (Answer, error) {
	if r.Once == nil {
		return r.told(ctx, runID, tool, call)
	}
	var made *Answer
	value, err := r.Once(ctx, place(tool, call), func(ctx context.Context) ([]byte, bool, error) {
		answer, err := r.told(ctx, runID, tool, call)
		if err != nil {
			return nil, false, err
		}
		made = &answer
		value, err := json.Marshal(answer)
		return value, !answer.Failed, err
	})
	if err != nil {
		return Answer{}, err
	}
	var answer Answer
	if err := json.Unmarshal(value, &answer); err != nil {
		return Answer{}, fmt.Errorf("decode the journal of %s: %w", call.ToolID, err)
	}
	if made != nil && made.Raw == answer.Raw && len(made.Sources) == len(answer.Sources) { // the usual case
		return *made, nil
	}
	if err := r.load(ctx, runID, &answer); err == nil || ctx.Err() != nil {
		return answer, err
	}
	return r.call(ctx, runID, tool, call) // its texts are on another machine, waiting for the storage
}

// told makes a call and reports it to Made.
func (r *Runner) told(ctx context.Context, runID, tool string, call Call) (Answer, error) {
	began := time.Now()
	answer, err := r.shared(ctx, runID, tool, call)
	if r.Made != nil {
		r.Made(tool, call, began, answer, err)
	}
	return answer, err
}

// place returns the journal key of a call.
func place(tool string, call Call) string {
	return "tool/" + call.ToolID + "/" + topicqueue.TextHash(tool + "\x00" + call.Query)[:20]
}

// load reads the texts of a journaled answer from the bundle.
func (r *Runner) load(ctx context.Context, runID string, answer *Answer) (err error) {
	if answer.Text, err = r.Pages.Page(ctx, runID, topicqueue.PageHash(answer.Raw)); err != nil {
		return fmt.Errorf("read answer %s of run %s: %w", answer.Raw, runID, err)
	}
	for i := range answer.Sources {
		s := &answer.Sources[i]
		if s.Text, err = r.Pages.Page(ctx, runID, s.Hash); err != nil {
			return fmt.Errorf("read source %s of run %s: %w", s.ID, runID, err)
		}
	}
	return nil
}

func (r *Runner) call(ctx context.Context, runID, tool string, call Call) (Answer, error) {
	start := time.Now()
	result, err := r.run(ctx, tool, call)
	took := time.Since(start)
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("call %s: %w", tool, err)
	}
	if r.Limit > 0 && len(result.Sources) > r.Limit {
		result.Named = append(slices.Clone(result.Named), result.Sources[r.Limit:]...)
		result.Sources = result.Sources[:r.Limit]
	}
	result.Named = named(result.Named)
	answer := Answer{Result: result, OriginalSize: len(result.Text), Took: took}
	answer.Text = topicqueue.Printable(answer.Text)
	if len(answer.Text) > MaxAnswer {
		answer.Text, answer.Truncated = text.Start(answer.Text, MaxAnswer), true
	}
	answer.Sources = Complete(result.Sources, time.Now().UTC())
	if err := r.store(ctx, runID, &answer); err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// run calls the tool within the time limit. If a tool ignores its context, run returns without waiting and discards the
// late answer.
func (r *Runner) run(ctx context.Context, name string, call Call) (Result, error) {
	tool, ok := r.Tools.Lookup(name)
	if !ok {
		return Result{Failed: true, Text: fmt.Sprintf("There is no tool %q. The tools are: %s.", name,
			strings.Join(r.Tools.Names(), ", "))}, nil
	}
	callCtx := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		callCtx, cancel = context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
		defer cancel()
	}
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				zerolog.Ctx(ctx).Error().Str("tool", name).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("tool panicked")
				o = outcome{result: Result{Failed: true, Text: name +
					" crashed on this query. Try another query or another tool."}}
			}
			done <- o
		}()
		o.result, o.err = tool.Call(callCtx, call)
	}()
	select {
	case o := <-done:
		if o.err == nil || !timedOut(ctx, callCtx) {
			return o.result, o.err
		}
	case <-callCtx.Done():
	}
	return Result{Failed: true, Text: fmt.Sprintf("%s did not answer within %s.", name, r.Timeout)}, nil
}

// timedOut reports whether the call ended because of its own time limit, not because of the caller.
func timedOut(ctx, callCtx context.Context) bool {
	return ctx.Err() == nil && errors.Is(context.Cause(callCtx), errTimeout)
}

// Complete returns copies of the sources with the fields filled in that a tool may omit: hash, time of retrieval, ID,
// genre, domain.
func Complete(found []topicqueue.Source, now time.Time) []topicqueue.Source {
	out := make([]topicqueue.Source, len(found))
	for i, s := range found {
		s = labelled(s)
		if clean := topicqueue.Printable(s.Text); clean != s.Text { // the hash must match the stored and quoted text
			s.Text, s.Hash, s.ID = clean, "", ""
		}
		if s.Hash == "" {
			s.Hash = topicqueue.TextHash(s.Text)
		}
		if s.RetrievedAt.IsZero() {
			s.RetrievedAt = now
		}
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		out[i] = sources.Describe(s, sources.Page{})
	}
	return out
}

// labelled returns a copy of s whose labels, URL and document are printable. Labels are on one line.
func labelled(s topicqueue.Source) topicqueue.Source {
	s.Section, s.Authors = slices.Clone(s.Section), slices.Clone(s.Authors)
	for _, texts := range [][]string{s.Section, s.Authors} {
		for i := range texts {
			texts[i] = topicqueue.OneLine(texts[i])
		}
	}
	s.Title, s.Publisher, s.Head = topicqueue.OneLine(s.Title), topicqueue.OneLine(s.Publisher), topicqueue.OneLine(s.Head)
	url, document := topicqueue.Printable(s.URL), topicqueue.Printable(s.Document)
	if url != s.URL || document != s.Document {
		s.URL, s.Document, s.ID = url, document, ""
	}
	return s
}

// named returns the sources that have a URL or document, without their text.
func named(found []topicqueue.Source) []topicqueue.Source {
	var out []topicqueue.Source
	for _, s := range found {
		if s.URL == "" && s.Document == "" {
			continue
		}
		s = labelled(s)
		s.Text, s.Hash = "", ""
		s.ID = topicqueue.SourceID(s)
		out = append(out, sources.Describe(s, sources.Page{}))
	}
	return out
}

// store stores the answer, the texts of its sources and the figures in the bundle.
func (r *Runner) store(ctx context.Context, runID string, answer *Answer) error {
	hash := topicqueue.TextHash(answer.Text)
	texts := []topicqueue.Source{{Hash: hash, Text: answer.Text}}
	stored := map[string]bool{}
	for _, t := range append(texts, answer.Sources...) {
		if stored[t.Hash] {
			continue
		}
		stored[t.Hash] = true
		if err := r.Pages.PutPage(ctx, runID, t.Hash, t.Text); err != nil {
			return fmt.Errorf("store page %s of run %s: %w", t.Hash, runID, err)
		}
	}
	answer.Raw = topicqueue.PagePath(hash)
	return r.storeFigures(ctx, runID, answer.Figures)
}

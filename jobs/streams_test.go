package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// streams are runs with all kinds of outcomes. Each function returns the id of a published run.
var streams = map[string]func(t *testing.T, b *bench) string{
	"no model": func(_ *testing.T, b *bench) string { return b.ended(withForms()) },
	"rephrased, no background": func(t *testing.T, b *bench) string {
		brief := strings.Repeat("How heat pumps work in winter and what they need. ", 25)
		b.services.Model = stubModel(t, &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			text, _ := json.Marshal(map[string]string{"think": "", "topic": brief})
			return string(text), q.Name == "rephrase"
		}})
		b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{unplanned{tools.NewRAGHybrid(b.base, 6)}}, Sections: b.base}, nil
		}
		o := withForms()
		o.Rephrase, o.RephraseIterations = true, 1
		return b.ended(o)
	},
	"answered directly": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Converse: answering, Answer: goodAnswer})
		o := answerOptions()
		o.Formats = formats.Names()
		return b.ended(o)
	},
	"asked and answered": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Answer: (&asking{questions: 1}).answer})
		w := b.start(jobs.Settings{})
		defer w.Stop()
		id := b.enqueue(topic, withFormsFor(time.Hour), "")
		b.asks(id, 1)
		if err := b.reply(id, 1, "Old houses."); err != nil {
			t.Error(err)
		}
		b.wait(id)
		return id
	},
	"nothing to ask": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Answer: (&asking{}).answer})
		return b.ended(withFormsFor(time.Hour))
	},
	"the gate fails": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
			return q.Name == "clarify" && unauthorized(w, q)
		}})
		return b.ended(withFormsFor(time.Hour))
	},
	"planning fails": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Intercept: unauthorized})
		return b.ended(withForms())
	},
	"a topic block fails": func(t *testing.T, b *bench) string {
		b.services.Model = stubModel(t, &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
			return q.Name == "decide" && unauthorized(w, q)
		}})
		o := withForms()
		o.MaxIterations = 2
		return b.ended(o)
	},
	"cancelled while it is written": func(t *testing.T, b *bench) string {
		reached, end := make(chan struct{}, 100), make(chan struct{})
		b.services.Model = stubModel(t, &llmtest.Stub{Intercept: func(_ http.ResponseWriter, q llmtest.Question) bool {
			if q.Name == "outline" {
				reached <- struct{}{}
				<-end
			}
			return false
		}})
		t.Cleanup(func() { close(end) }) // before the server ends, which waits for its answers
		w := b.start(jobs.Settings{})
		id := b.enqueue(topic, withForms(), "")
		<-reached
		intents, err := b.services.Queue.Cancel(t.Context(), id, "not needed", false)
		b.dispatched(intents, err)
		b.wait(id)
		w.Stop()
		return id
	},
	"one form fails": func(_ *testing.T, b *bench) string {
		b.services.Format = formless(formats.NameDOCX)
		return b.ended(withForms())
	},
	"no form": func(_ *testing.T, b *bench) string {
		b.services.Format = formless(formats.Names()...)
		return b.ended(withForms())
	},
	"read aloud": func(_ *testing.T, b *bench) string {
		b.services.Speech = &voice{}
		o := withForms()
		o.Audio = topicqueue.AudioDual
		return b.ended(o)
	},
	"no engine": func(_ *testing.T, b *bench) string {
		o := withForms()
		o.Audio = topicqueue.AudioExtended
		return b.ended(o)
	},
	"its report is written again": func(t *testing.T, b *bench) string {
		id := b.ended(withForms())
		w := b.start(jobs.Settings{})
		intents, err := b.services.Queue.Retry(t.Context(), id, redisqueue.RetryReport, 1)
		b.dispatched(intents, err)
		b.until(id, "published again", func(r topicqueue.Run) bool { return published(r) && r.State.Final() })
		w.Stop()
		return id
	},
}

func withForms() topicqueue.Options {
	o := options(2, 1, 2)
	o.Formats = formats.Names()
	return o
}

// withFormsFor is withForms with this waiting time for answers.
func withFormsFor(wait time.Duration) topicqueue.Options {
	o := humanOptions(wait)
	o.Formats = formats.Names()
	return o
}

// ended returns a run that a worker has completed.
func (b *bench) ended(o topicqueue.Options) string {
	b.t.Helper()
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, o, "")
	b.wait(id)
	return id
}

func (b *bench) dispatched(intents []redisqueue.Intent, err error) {
	b.t.Helper()
	if err == nil {
		err = b.services.Dispatcher.Dispatch(b.t.Context(), intents)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestStreams parses the streams in bundles with a strict client. Together they contain everything that the schema
// allows in a stored stream.
func TestStreams(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string]bool{}
	t.Run("of", func(t *testing.T) {
		for name, run := range streams {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, redistest.InProcess(t), nil)
				names := parsed(t, b, run(t, b))
				mu.Lock()
				defer mu.Unlock()
				for _, name := range names {
					told[name] = true
				}
			})
		}
	})
	missing := slices.DeleteFunc(eventtest.Names(), func(name string) bool { return told[name] })
	want := []string{"delta", "gap"}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("what no stream tells of (-want +got):\n%s", diff)
	}
}

// parsed parses the stored stream of a run with a strict client and returns its types and step keys.
func parsed(t *testing.T, b *bench, id string) (names []string) {
	t.Helper()
	for line := range strings.Lines(string(get(t, b.services.Store, storage.CacheKey(id, "events.jsonl")))) {
		typ, step, err := eventtest.Parse([]byte(line))
		if err != nil {
			t.Errorf("%v: %s", err, line)
		}
		names = append(names, typ, step)
	}
	return names
}

// unplanned is a tool that fails during planning.
type unplanned struct{ tools.Tool }

func (u unplanned) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	if !strings.HasPrefix(call.ToolID, "block_") {
		return tools.Result{Failed: true, Text: "the index is being made"}, nil
	}
	return u.Tool.Call(ctx, call)
}

// formless returns a renderer that fails for these formats.
func formless(names ...string) func(string, formats.Report) ([]byte, error) {
	return func(name string, r formats.Report) ([]byte, error) {
		if slices.Contains(names, name) {
			return nil, errors.New("no room")
		}
		return []byte(r.Tree.Body(nil)), nil
	}
}

package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// losingStore loses one text.
type losingStore struct {
	storage.Store
	hash string
	lost *atomic.Pointer[[]byte]
}

func (s losingStore) Put(ctx context.Context, key string, body []byte) error {
	if topicqueue.TextHash(string(body)) == s.hash {
		s.lost.Store(&body)
		return nil
	}
	return s.Store.Put(ctx, key, body)
}

// chatter is an engine whose second page is empty of facts.
type chatter struct{ *engine }

func (c chatter) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	r, err := c.engine.Call(ctx, call)
	if len(r.Sources) > 1 {
		r.Sources[1].Text = "Accept all cookies"
	}
	return r, err
}

// TestLostTexts: a text that is no longer in the storage makes the run partial, and its sources list the loss. If a
// claim rests on it, the bundle is not valid.
func TestLostTexts(t *testing.T) {
	t.Parallel()
	o := options(2, 2, 2)
	o.KnowledgeBase, o.Tools = "", []string{"paper_search"}
	// work researches the topic on a separate bench whose storage never receives one text, and returns its sources.
	work := func(t *testing.T, hash string) (b *bench, behind storage.Store, lost []byte, id string, lines []registered) {
		b = setup(t, redistest.InProcess(t), nil)
		e := &engine{outcomes: map[string]int{}, returned: map[string]bool{}}
		b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{chatter{e}}}, nil
		}
		store := losingStore{b.services.Store, hash, &atomic.Pointer[[]byte]{}}
		behind, b.services.Store = b.services.Store, store
		w := b.start(jobs.Settings{})
		defer w.Stop()
		id = b.enqueue(topic, o, "")
		b.wait(id)
		body, err := behind.Get(t.Context(), storage.CacheKey(id, "sources.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(body) {
			var s registered
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, s)
		}
		if text := store.lost.Load(); text != nil {
			lost = *text
		}
		return b, behind, lost, id, lines
	}
	idle, cited := "", ""
	_, _, _, _, all := work(t, "")
	for _, s := range all {
		switch {
		case s.Cited:
			cited = s.Hash
		case s.Read && s.Claims == 0 && len(s.Citations) == 0:
			idle = s.Hash
		}
	}
	for _, c := range []struct {
		name, hash string
	}{{"nothing rests on it", idle}, {"a claim rests on it", cited}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, store, text, id, lines := work(t, c.hash)
			run := b.run(id)
			body, err := store.Get(t.Context(), storage.MetadataKey(id))
			if err != nil || text == nil {
				t.Fatal(err, "lost:", text)
			}
			var m struct {
				State        topicqueue.RunState
				MissingTexts []string `json:"missing_texts"`
			}
			if err := json.Unmarshal(body, &m); err != nil {
				t.Fatal(err)
			}
			if run.State != topicqueue.RunPartial || m.State != topicqueue.RunPartial || !slices.Equal(m.MissingTexts, []string{c.hash}) {
				t.Errorf("run %s (%s), metadata %s, missing %q", run.State, run.Reason, m.State, m.MissingTexts)
			}
			for _, s := range lines {
				if s.Lost != (s.Hash == c.hash) || s.Lost && s.Read {
					t.Errorf("%+v", s)
				}
			}
			if check, err := bundle.Verify(t.Context(), store, id); err != nil || len(check.Problems) == 0 != (c.hash == idle) {
				t.Errorf("%v, %v", check.Problems, err)
			}
		})
	}
}

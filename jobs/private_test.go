package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestKnowledgeBasesArePrivate: runs of a batch with equal topics and tools have different knowledge bases or none,
// night after night. They share web results. Content of a knowledge base is in no file and no memory of a run that does
// not name it.
func TestKnowledgeBasesArePrivate(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	b.shares()
	secrets := map[string]string{"red": "The Redwood clause limits spring tides to 4711 litres at the harbour.", "blue": "The Bluebell clause limits spring tides to 8088 litres at the harbour."}
	bases := map[string]*knowledge.Base{}
	for name, secret := range secrets {
		text := "# Spring tides at the harbour\n\n" + secret + " What is said of spring tides at the harbour is agreed in writing.\n"
		bases[name] = indexed(t, map[string]string{"tides.md": text}) // the same document key in both
	}
	web := &counted{name: "web_search", answer: func(query string) (address, text string) {
		return "https://a.example/tides", "Spring tides at the harbour rise by 7 metres in most years. The gauge of the harbour measures spring tides since 1911."
	}}
	b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
		base := bases[run.Options.KnowledgeBase]
		if base == nil {
			return jobs.Toolbox{Tools: tools.Set{web}}, nil
		}
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6), web}, Sections: base, Documents: base}, nil
	}
	for night := 1; night <= 3; night++ {
		w := b.start(jobs.Settings{Concurrency: 16})
		now := time.Date(2026, 3, night, 20, 0, 0, 0, time.UTC)
		batch := redisqueue.Batch{Name: fmt.Sprint("night-", night)}
		var err error
		if batch.CreatedAt, err = b.services.Queue.OpenBatch(t.Context(), batch.Name, now); err != nil {
			t.Fatal(err)
		}
		runs := map[string]string{}
		for i, name := range []string{"red", "blue", ""} {
			o := options(2, 2, 2)
			o.KnowledgeBase, o.Tools, o.Incremental = name, []string{"rag_hybrid", "web_search"}, true
			if night == 3 { // those who had none yesterday have one today, and the other way round
				o.KnowledgeBase = []string{"", "red", "blue"}[i]
			}
			run := tasks.NewRun(batch, "Spring tides at the harbour", o, "", topicqueue.Labels{Ref: fmt.Sprint("topic-", i)}, now)
			if _, err := b.services.Dispatcher.EnqueueAll(t.Context(), b.services.Queue, []topicqueue.Run{run}); err != nil {
				t.Fatal(err)
			}
			runs[run.ID] = o.KnowledgeBase
		}
		if len(runs) != 3 {
			t.Fatalf("runs %v", runs)
		}
		for id := range runs {
			b.wait(id)
		}
		w.Stop()
		for id, own := range runs {
			found := map[string]bool{}
			for _, prefix := range []string{"cache/" + id, "reports/" + id} {
				keys, err := b.services.Store.List(t.Context(), prefix)
				if err != nil || len(keys) == 0 {
					t.Fatalf("%s: %v, %v", prefix, keys, err)
				}
				for _, key := range keys {
					b.private(key, own, secrets, found)
				}
			}
			if own != "" && !found[own] {
				t.Errorf("night %d: the run on %s does not know its own knowledge base", night, own)
			}
		}
	}
	keys, err := b.services.Store.List(t.Context(), "topics/")
	if err != nil || len(keys) == 0 {
		t.Fatal(keys, err)
	}
	for _, key := range keys { // each memory knows one at most
		body, err := b.services.Store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(body, []byte("Redwood")) && bytes.Contains(body, []byte("Bluebell")) {
			t.Errorf("%s knows both", key)
		}
	}
	if n := len(web.calls); n == 0 {
		t.Error("nobody has searched the web")
	}
}

// private checks that a file contains no secret of other knowledge bases.
func (b *bench) private(key, own string, secrets map[string]string, found map[string]bool) {
	b.t.Helper()
	body, err := b.services.Store.Get(b.t.Context(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	for name, secret := range secrets {
		word := strings.Fields(secret)[1] // Redwood, Bluebell
		if strings.Contains(string(body), word) {
			found[name] = true
			if name != own {
				b.t.Errorf("%s of a run on %q has %s", key, own, word)
			}
		}
	}
}

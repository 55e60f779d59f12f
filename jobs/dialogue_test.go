package jobs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/planning"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// A plan that is given costs no planning call, and each of its items is a block with a place in the outline.
func TestGivenPlan(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		asked := &askedNames{}
		b := setup(t, rdb, stubModel(t, &llmtest.Stub{Answer: asked.note}))
		given := "- Heat pumps in winter\n- Noise of outdoor units\n- Flow temperature\n- Ground source heat pumps\n" +
			"- Coefficient of performance\n- Night modes\n- Old radiators\n- Defrost cycle\n"
		items, err := planning.ParseGiven(given)
		if err != nil {
			t.Fatal(err)
		}
		o := options(len(items), 1, 4)
		o.Plan = items
		id := b.enqueue("How do heat pumps work?", o, "")
		w := b.start(jobs.Settings{})
		defer w.Stop()
		b.wait(id)
		for _, name := range asked.all() {
			if slices.Contains([]string{"rephrase", "queries", "decompose"}, name) {
				t.Errorf("the model was asked to %s", name)
			}
		}
		var queue struct {
			Blocks []struct {
				ID    string `json:"block_id"`
				Title string `json:"sub_topic"`
			} `json:"blocks"`
		}
		var outline struct {
			Sections []struct {
				BlockIDs []string `json:"block_ids"`
			} `json:"sections"`
		}
		b.json("cache/"+id+"/queue.json", &queue)
		b.json("cache/"+id+"/outline.json", &outline)
		var placed []string
		for _, s := range outline.Sections {
			placed = append(placed, s.BlockIDs...)
		}
		for i, item := range items {
			if queue.Blocks[i].Title != item.Title || !slices.Contains(placed, queue.Blocks[i].ID) {
				t.Errorf("block %+v of item %q, placed %q", queue.Blocks[i], item.Title, placed)
			}
		}
		if state := b.run(id).State; state != topicqueue.RunCompleted && state != topicqueue.RunPartial {
			t.Errorf("state %s", state)
		}
	})
}

// json decodes a stored file.
func (b *bench) json(key string, into any) {
	b.t.Helper()
	data, err := b.services.Store.Get(b.t.Context(), key)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", key, err)
	}
}

// askedNames are the names of the questions that a stub was asked.
type askedNames struct {
	mu    sync.Mutex
	names []string
}

func (a *askedNames) note(q llmtest.Question) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, _, _ := strings.Cut(q.Name, ".")
	a.names = append(a.names, name)
	return goodAnswer(q)
}

func (a *askedNames) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.names)
}

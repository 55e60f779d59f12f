package web_test

import (
	"net/http"
	"testing"
	"time"

	"nightdesk/jobs/history"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// TestTopic: the nights of a topic stand in a row, and two of its reports side by side.
func TestTopic(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	key := ""
	for i, sentence := range []string{"The dunes are 30 m high in spring", "The dunes are 34 m high in spring"} {
		id := []string{"research_1", "research_2"}[i]
		run := d.report(id, "Dunes "+hostile, sentence, time.Date(2026, 3, 1+i, 21, 0, 0, 0, time.UTC))
		key = history.KeyOf(run)
		if i == 0 {
			d.get("/topics/"+key, http.StatusNotFound)
		}
		if err := history.Record(t.Context(), d.store, run); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			d.has("/topics/"+key, "1 report on this topic", "There is nothing to compare yet")
		}
	}
	d.put(storage.MetadataKey("research_2"), map[string]any{"research_id": "research_2",
		"usage": map[string]any{"total_calls": 3, "total_cost_usd": 0.5},
		"tally": topicqueue.Tally{Sentences: 9, Supported: 7},
		"changes": map[string]any{"since": "2026-03-01", "changed": []any{map[string]any{"what": "height " + hostile,
			"old": map[string]any{"value": "30 m"}, "new": map[string]any{"value": "34 m"}}}}})
	page := "/topics/" + key
	d.has("/runs/research_2", `<a href="../topics/`+key+`">`)
	d.has(page, "Dunes &lt;script&gt;", "2 reports on this topic", `<a href="../runs/research_1">2026-03-01 21:00 UTC</a>`,
		"7 of 9 confirmed · 1:00 · 3 model calls, 0 tokens, 0.50 USD", "30 m → 34 m", "height &lt;script&gt;",
		`compare?a=research_1&amp;b=research_2"`)
	d.has(page+"/compare?a=research_1&b=research_2", "1 place differs", "<del>The dunes are 30 m high in spring.</del>",
		"<ins>The dunes are 34 m high in spring.</ins>", `<p class="soft">The wind is west.</p>`)
	d.report("research_3", "Other", "x", time.Date(2026, 3, 3, 21, 0, 0, 0, time.UTC))
	for _, path := range []string{"/topics/x", "/topics/" + key[1:] + "x", page + "/compare",
		page + "/compare?a=research_1&b=research_3", page + "/compare?a=research_1&b=..%2fx"} {
		d.get(path, http.StatusNotFound)
	}
}

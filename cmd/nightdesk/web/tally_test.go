package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/web"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestTallies: lists of runs say what changed, what came of the check, and the cost.
func TestTallies(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	l := &library{T: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), dir: storage.NewDir(t.TempDir())}
	created, err := l.queue.OpenBatch(t.Context(), "night", time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	handler := web.New(web.Services{Desk: deskOf(rdb, l.queue, l.dir)})
	get := func(path string) string {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil))
		return answer.Body.String()
	}
	for i, tc := range []struct {
		tally    *topicqueue.Tally
		row, csv string
	}{
		{nil, "<span class=\"completed\">", ",,,,,,,,"},
		{&topicqueue.Tally{Sentences: 6, Supported: 6, Quotes: true}, "<td>6 quotations</td>",
			",,,6,6,0,0,0,"},
		{&topicqueue.Tally{Sentences: 49, Supported: 38, Since: "2026-02-28", Calls: 34, Tokens: 41_000, CostUSD: 0.144},
			"<td>none</td><td>38 of 49 confirmed</td><td>0.14 USD</td>", ",2026-02-28,0,49,38,0,34,41000,0.1440"},
		{&topicqueue.Tally{Sentences: 49, Supported: 38, Unsupported: 2, Since: "2026-02-28", Changes: 6, Calls: 34,
			Tokens: 41_000, Unpriced: 34}, "<td>6</td><td>38 of 49 confirmed, 2 not supported</td><td>41000 tokens</td>",
			",2026-02-28,6,49,38,2,34,41000,"},
	} {
		topic := fmt.Sprint("Tides of sea ", i)
		l.end(topicqueue.Run{ID: topicqueue.RunID("night", topic, "", created), Batch: "night", Topic: topic,
			State: topicqueue.RunQueued, CreatedAt: created, Options: topicqueue.Options{Duration: time.Hour}}, tc.tally)
		query := fmt.Sprintf("?q=sea+%d", i)
		if page := get("/batches/night" + query); !strings.Contains(page, tc.row) {
			t.Errorf("the batch lacks %s:\n%s", tc.row, page)
		}
		if table := strings.TrimSpace(get("/csv/night" + query)); !strings.HasSuffix(table, tc.csv) {
			t.Errorf("the table does not end with %s:\n%s", tc.csv, table)
		}
	}
}

package web_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/web"
	"nightdesk/jobs/search"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

var many = flag.Int("web.many", 200, "number of runs of TestManyRuns; from 10,000 on pages must answer in 100 ms")

// library is a desk with many finished runs in one batch, on a real Redis and a directory.
type library struct {
	*testing.T
	rdb   *redis.Client
	queue *redisqueue.Queue
	dir   *storage.Dir
	ids   []string
}

// write stores a file without waiting for the disk.
func (l *library) write(key string, body any) {
	text, ok := body.(string)
	if !ok {
		data, err := json.Marshal(body)
		if err != nil {
			l.Fatal(err)
		}
		text = string(data)
	}
	path := l.dir.Location(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// prose is some sentences of words that many reports have.
func prose(r *rand.Rand, sentences int) string {
	var b strings.Builder
	for range sentences {
		for range 12 {
			fmt.Fprintf(&b, "word%d ", int(r.ExpFloat64()*400))
		}
		b.WriteString("end.\n")
	}
	return b.String()
}

// end makes a run that is published with this tally.
func (l *library) end(run topicqueue.Run, tally *topicqueue.Tally) topicqueue.Run {
	ctx := l.Context()
	if _, err := l.queue.Create(ctx, run); err != nil {
		l.Fatal(err)
	}
	intents, err := l.queue.Cancel(ctx, run.ID, "enough", false)
	if err != nil {
		l.Fatal(err)
	}
	begun, err := l.queue.Begin(ctx, run.ID, redisqueue.UnitPublish, intents[0].Generation)
	if err != nil {
		l.Fatal(err)
	}
	run = begun.Run
	run.Report, run.State, run.Tally = storage.ReportKey(run.ID), topicqueue.RunCompleted, tally
	if err := l.queue.Published(ctx, begun.Lease, run, time.Hour); err != nil {
		l.Fatal(err)
	}
	return run
}

// add makes one run that has ended, with its files.
func (l *library) add(n int, created time.Time) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	topic := fmt.Sprintf("What is known of subject %d, and of word%d?", n, n%500)
	run := topicqueue.Run{ID: topicqueue.RunID("many", topic, "", created), Batch: "many", Topic: topic,
		State: topicqueue.RunQueued, CreatedAt: created.Add(time.Duration(n) * time.Millisecond),
		Options: topicqueue.Options{Duration: time.Hour}, Labels: topicqueue.Labels{Ref: fmt.Sprint("K-", n)}}
	run = l.end(run, &topicqueue.Tally{Sentences: 40, Supported: 38, Unsupported: 1, Since: "2026-02-28", Changes: 3,
		Calls: 31, Tokens: 41_000, CostUSD: 0.14})
	text := prose(r, 60)
	if n%50 == 0 {
		text += "This one is about Geneva.\n"
	}
	l.write(storage.ReportKey(run.ID), "# "+topic+"\n\n## Overview\n\n"+text+"\n## References\n")
	l.write(storage.FormatKey(run.ID, "html"), "<!DOCTYPE html><main><h1>"+topic+"</h1><p>"+text+"</p></main>")
	l.write(storage.CacheKey(run.ID, "queue.json"), `{"blocks":[]}`)
	l.write(storage.MetadataKey(run.ID), map[string]string{"topic": topic})
	l.write(storage.CacheKey(run.ID, "config.json"), run)
	l.write(storage.CacheKey(run.ID, "sources.jsonl"), `{"source_id":"s1","title":"T","sha256":"x","cited":true}`)
	var claims strings.Builder
	for i := range 20 {
		fmt.Fprintf(&claims, `{"claim_id":"c%d","source_id":"s1","text":%q,"quote":"q"}`+"\n", i,
			strings.TrimSpace(prose(r, 1)))
	}
	l.write(storage.CacheKey(run.ID, "claims.jsonl"), claims.String())
	l.write(storage.ManifestKey(run.ID), "{}")
	l.ids = append(l.ids, run.ID)
}

// TestManyRuns measures the pages of a desk with many runs:
// go test ./cmd/nightdesk/web -run TestManyRuns -web.many 10000 -v.
func TestManyRuns(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	rdb := redistest.Server(t)
	l := &library{T: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), dir: storage.NewDir(t.TempDir())}
	created, err := l.queue.OpenBatch(t.Context(), "many", time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for n := range *many {
		l.add(n, created)
	}
	d := digest.Digest{Batch: "many", Runs: *many, States: map[topicqueue.RunState]int{topicqueue.RunCompleted: *many}}
	for i, id := range l.ids[:min(len(l.ids), 2000)] {
		d.Reports = append(d.Reports, digest.Ref{RunID: id, Topic: fmt.Sprint("Subject ", i),
			State: topicqueue.RunCompleted})
	}
	l.write(storage.DigestKey("many", "json"), d)
	folder := t.TempDir()
	index, err := search.Open(folder, l.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, what := range []string{"read all reports", "see that nothing is new"} {
		begun := time.Now()
		if _, err := index.CatchUp(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		t.Logf("%8.1f ms to %s", float64(time.Since(begun).Microseconds())/1000, what)
	}
	if files, err := filepath.Glob(filepath.Join(folder, "*")); err == nil {
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				t.Logf("%8d kB %s", info.Size()/1000, filepath.Ext(f))
			}
		}
	}
	stored := l.ids[len(l.ids)/2] // its state has expired
	if err := rdb.Del(t.Context(), rdb.Keys(t.Context(), "nightdesk:{"+stored+"}:*").Val()...).Err(); err != nil {
		t.Fatal(err)
	}
	handler := web.New(web.Services{Desk: deskOf(rdb, l.queue, l.dir), Search: index.Search,
		Health: sound()})
	for _, path := range []string{"/", "/?q=subject+77", "/batches", "/batches/many", "/batches/many?q=subject+77",
		"/search?q=geneva", "/search?q=word1+word2+word3", "/search?q=%22word1+word2%22", "/search?q=word19*",
		"/search?q=xylophone", "/runs/" + stored, "/v1/runs", "/v1/runs?state=failed", "/v1/batches/many",
		"/v1/search?q=geneva", "/v1/runs/" + l.ids[0]} {
		l.measure(handler, path)
	}
}

// measure asks for a page some times, and says the median.
func (l *library) measure(handler http.Handler, path string) {
	var took []time.Duration
	for range 11 {
		begun := time.Now()
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(l.Context(), http.MethodGet, "http://localhost"+path, nil))
		if answer.Code != http.StatusOK {
			l.Fatalf("%s: %d\n%.500s", path, answer.Code, answer.Body)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	median := took[len(took)/2]
	l.Logf("%8.1f ms at the median for %s", float64(median.Microseconds())/1000, path)
	if *many >= 10_000 && median > 100*time.Millisecond {
		l.Errorf("%s takes %s", path, median)
	}
}

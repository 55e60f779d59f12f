package redisqueue_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// family is one line of the table of keys in the package's documentation.
type family struct {
	name    string
	pattern *regexp.Regexp
	forever bool
}

// families parses the table of keys.
var families = sync.OnceValue(func() []family {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		panic(err)
	}
	var out []family
	for _, m := range regexp.MustCompile(`(?m)^//\t(nightdesk:\S+)\s+\S+(?: set)?\s+(.*)$`).FindAllStringSubmatch(string(doc), -1) {
		pattern := regexp.QuoteMeta(m[1])
		for placeholder, form := range map[string]string{"RUN": `research_\w+`, "BLOCK": `block_[1-9]\d*`, "LANE": `\w*`, "BATCH": `.+`, "DATE": `\d{4}-\d\d-\d\d`} {
			pattern = strings.ReplaceAll(pattern, placeholder, form)
		}
		out = append(out, family{m[1], regexp.MustCompile("^" + pattern + "$"), strings.HasPrefix(m[2], "for ever")})
	}
	return out
})

// familyOf returns the documented family of a key, or nil.
func familyOf(key string) *family {
	for _, f := range families() {
		if f.pattern.MatchString(key) {
			return &f
		}
	}
	return nil
}

// TestKeys takes a run through all states and compares the existing keys with the documented ones.
func TestKeys(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("fjords", 1)
		run.Options.Audio = topicqueue.AudioSingle
		run.Options.BatchBudget, run.Options.NightBudget = topicqueue.Budget{Tokens: 1000}, topicqueue.Budget{Tokens: 1000}
		seen := map[string]bool{}
		look := func() {
			t.Helper()
			for _, key := range rdb.Keys(ctx, "*").Val() {
				if f := familyOf(key); f == nil {
					t.Errorf("key %s is not documented", key)
				} else {
					seen[f.name] = true
				}
			}
		}
		begin := func(unit string) redisqueue.Begun {
			t.Helper()
			b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, unit, 1))
			if unit != redisqueue.UnitPublish {
				must[int64](t)(q.Reserve(ctx, b.Lease, "1/decide", redisqueue.Reservation{Question: 10, Longest: 10}))
				look()
				must[[]byte](t)(q.Answered(ctx, b.Lease, b.Epoch, "1/decide", []byte("{}"), topicqueue.Usage{}, 15))
			}
			look()
			return b
		}
		must[time.Time](t)(q.OpenBatch(ctx, run.Batch, created))
		must[bool](t)(q.AddSchedule(ctx, nightly()))
		if err := q.Writable(ctx); err != nil {
			t.Fatal(err)
		}
		if err := q.ReadAlong(ctx, run.ID); err != nil {
			t.Fatal(err)
		}
		q.Write(ctx, run.ID, "planning", "", "plan")("fjords")
		attendance := q.Attend(2)
		must[redisqueue.Workers](t)(attendance.Beat(ctx))
		if _, err := q.Create(ctx, run); err != nil {
			t.Fatal(err)
		}
		if _, _, err := q.Due(ctx); err != nil {
			t.Fatal(err)
		}
		if err := q.SealBatch(ctx, run.Batch); err != nil {
			t.Fatal(err)
		}
		look()
		fed(t, q, run)
		claim := redisqueue.Claim{Limit: 1000, Wants: 900, Needs: 10}
		must[int64](t)(q.DrawNight(ctx, run, created, claim))
		must[topicqueue.Purse](t)(q.Purse(ctx, run.ID, must[int64](t)(q.DrawBatch(ctx, run, claim)), topicqueue.CutReview))
		look()
		plan := planOf("Sogne", "Hardanger")
		plan.Reviews = 1
		must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, begin(redisqueue.UnitPlan).Lease, plan))
		for n := range 2 {
			b := begin(topicqueue.BlockID(n + 1))
			cp := topicqueue.Checkpoint{Iteration: 1, Queries: []string{"how deep"}, Returned: topicqueue.TextHash(""), Digest: topicqueue.Digest{Findings: []topicqueue.Finding{{Text: "deep"}}}, Traces: []topicqueue.ToolTrace{{CitationID: "CIT-1-01"}}}
			if _, _, err := q.Checkpoint(ctx, b.Lease, cp, b.View, 8); err != nil {
				t.Fatal(err)
			}
			must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""))
			look()
		}
		must[[]redisqueue.Intent](t)(q.CloseReview(ctx, begin(redisqueue.UnitReview).Lease, topicqueue.Review{}))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, begin(redisqueue.UnitReport).Lease,
			redisqueue.Outcome{State: topicqueue.RunCompleted, Report: "r", Content: []byte("{}")}))
		must[[]redisqueue.Intent](t)(q.Narrated(ctx, begin(redisqueue.UnitNarrate).Lease, topicqueue.Narration{}))
		look()
		for _, f := range families() {
			if !seen[f.name] && f.name != "nightdesk:batch:{BATCH}:lines" {
				t.Errorf("%s is documented and was never there", f.name)
			}
		}

		if err := attendance.End(ctx); err != nil {
			t.Fatal(err)
		}
		b := begin(redisqueue.UnitPublish)
		if err := q.Published(ctx, b.Lease, b.Run, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		must[[]byte](t)(q.Answered(ctx, b.Lease, b.Epoch, "late", nil, topicqueue.Usage{Step: "late"}, 7))
		rdb.ZAdd(ctx, "nightdesk:{index}:runs", redis.Z{Member: run.ID}) // its next look comes now
		waitDue(ctx, t, q, run.ID)
		swept(t, q, run, true)
		digest(t, q, run.Batch)
		rdb.Del(ctx, "nightdesk:{"+run.ID+"}:watched", "nightdesk:{"+run.ID+"}:deltas", "nightdesk:probe", "nightdesk:{index}:night:"+created.Add(-12*time.Hour).Format(time.DateOnly)) // within their time
		lapse(t, rdb, 120*time.Millisecond)
		clear(seen)
		look()
		want := map[string]bool{}
		for _, f := range families() {
			if f.forever {
				want[f.name] = true
			}
		}
		if !maps.Equal(want, seen) {
			t.Errorf("left are %v, want %v", slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(want)))
		}
	})
}

package jobs_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// BenchmarkMemoryQueued measures the Redis memory of a waiting topic of 100 characters, including its task in asynq: go
// test ./jobs -run '^$' -bench MemoryQueued -benchtime 10000x
func BenchmarkMemoryQueued(b *testing.B) {
	desk := setup(b, redistest.Server(b), nil)
	before := usedMemory(b, desk.services.Redis)
	for b.Loop() {
		text := "What is known about the winter performance of air source heat pumps in old houses, case " + desk.next() + "?"
		desk.enqueue(text+strings.Repeat(" ", max(0, 100-len(text)-1))+".", options(5, 4, 5), "")
	}
	b.StopTimer()
	b.ReportMetric(float64(usedMemory(b, desk.services.Redis)-before)/float64(b.N), "redis-B/topic")
	families(b, desk.services.Redis, b.N)
}

// BenchmarkMemoryFinished measures the Redis memory of a finished run of 5 blocks with 4 iterations each: go test
// ./jobs -run '^$' -bench MemoryFinished -benchtime 100x
func BenchmarkMemoryFinished(b *testing.B) {
	desk := setup(b, redistest.Server(b), stubModel(b, &llmtest.Stub{}))
	w := desk.start(jobs.Settings{Concurrency: 20})
	desk.wait(desk.enqueue(topic, options(5, 4, 5), "")) // connections and scripts take memory too
	before := usedMemory(b, desk.services.Redis)
	for b.Loop() {
		desk.wait(desk.enqueue(topic+" "+desk.next(), options(5, 4, 5), ""))
	}
	b.StopTimer()
	b.ReportMetric(float64(usedMemory(b, desk.services.Redis)-before)/float64(b.N), "redis-B/run")
	families(b, desk.services.Redis, b.N)
	w.Stop()
}

// usedMemory returns the bytes that Redis has allocated.
func usedMemory(b *testing.B, rdb redis.UniversalClient) int64 {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	info, err := rdb.Info(ctx, "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "used_memory:")
	text, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// families logs the memory of keys, summed over keys that differ only in ids and numbers.
func families(b *testing.B, rdb redis.UniversalClient, n int) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	ids := regexp.MustCompile(`research_\d+_\d+_[a-z0-9]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d+`)
	sums := map[string]int64{}
	all := rdb.Scan(ctx, 0, "*", 1000).Iterator()
	for all.Next(ctx) {
		size, err := rdb.MemoryUsage(ctx, all.Val(), 0).Result()
		if err != nil {
			continue // it has expired
		}
		sums[ids.ReplaceAllString(all.Val(), "*")] += size
	}
	if all.Err() != nil {
		b.Fatal(all.Err())
	}
	var lines []string
	for family, size := range sums {
		if per := size / int64(n); per > 0 {
			lines = append(lines, fmt.Sprintf("%6d B %s", per, family))
		}
	}
	slices.SortFunc(lines, func(x, y string) int { return cmp.Compare(y, x) })
	b.Logf("each of %d, by keys:%s", n, strings.Join(lines, ", ")) // on one line: a benchmark shows ten
}

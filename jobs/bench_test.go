package jobs_test

import (
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// BenchmarkRun researches one topic (5 blocks, 4 iterations each) with a model that answers at once, to measure the
// program's own cost per run.
func BenchmarkRun(b *testing.B) {
	desk := setup(b, redistest.Server(b), stubModel(b, &llmtest.Stub{}))
	w := desk.start(jobs.Settings{Concurrency: 20})
	b.ReportAllocs()
	for b.Loop() {
		desk.wait(desk.enqueue(topic+" "+desk.next(), options(5, 4, 5), ""))
	}
	b.StopTimer()
	w.Stop()
}

package jobs_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"nightdesk/jobs/forecast"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
)

func TestEstimateSums(t *testing.T) {
	t.Parallel()
	o := options(5, 4, 5)
	o.MaxLoops, o.QueueMaxLength = 1, 7
	one := forecast.Run(o, nil)
	if one.Calls != 40 || one.Most <= 7*4*4 || one.Most > 150 {
		t.Errorf("%d calls, at most %d", one.Calls, one.Most)
	}
	var sum forecast.Estimate
	for range 100 {
		sum.Add(one)
	}
	if sum.Calls != 4000 || sum.Chain != one.Chain || sum.Busy != 100*one.Busy || sum.Tokens[llm.Note][1] != 100*one.Tokens[llm.Note][1] {
		t.Errorf("the sum of 100 is %+v, one is %+v", sum, one)
	}
	if got := sum.Took(20); got != sum.Busy/20 || sum.Took(1_000_000) != one.Chain || sum.Took(0) != sum.Busy {
		t.Errorf("took %s", got)
	}
	o.Rephrase, o.RephraseIterations = true, 3
	if got := forecast.Run(o, nil); got.Calls != 43 || got.Chain < one.Chain+3*time.Second {
		t.Errorf("with rephrasing %d calls in %s", got.Calls, got.Chain)
	}
	o.HumanInTheLoop, o.Attached = true, "v1"
	if got := forecast.Run(o, nil); got.Calls != 44 {
		t.Errorf("with the gate before planning and attached documents %d calls", got.Calls)
	}
	shallow := topicqueue.Options{Path: topicqueue.PathShallow, MaxTurns: 10, Attached: "v1"}
	if got := forecast.Run(shallow, nil); got.Calls != 4 || got.Most != 11 {
		t.Errorf("a shallow run with attached documents: %d calls, at most %d", got.Calls, got.Most)
	}
	if got := forecast.Run(options(0, 0, 0), nil); got.Calls != 6 || got.Most < got.Calls {
		t.Errorf("without options %+v", got)
	}
}

func TestEstimateCost(t *testing.T) {
	t.Parallel()
	e := forecast.Estimate{Tokens: map[llm.Role][2]int64{llm.Note: {1e6, 1e6}, llm.Writer: {2e6, 0}, llm.Planner: {1, 1}, llm.Researcher: {1, 1}}}
	prices := llm.Prices{"cheap": {Input: 1, Output: 2}, "dear": {Input: 10, Output: 20}}
	usd, unpriced := e.Cost(prices, map[llm.Role]string{llm.Note: "cheap", llm.Writer: "dear", llm.Planner: "mine", llm.Researcher: "mine"})
	if math.Abs(usd-23) > 1e-9 || !slices.Equal(unpriced, []string{"mine"}) {
		t.Errorf("%v USD, without price %v", usd, unpriced)
	}
}

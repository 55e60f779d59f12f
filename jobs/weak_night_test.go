package jobs_test

import (
	"flag"
	"fmt"
	"regexp"
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/citation"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// A whole night: go test ./jobs -run TestWeakModelNight -v -args -weak.topics 200
var weakTopics = flag.Int("weak.topics", map[bool]int{false: 48, true: 18}[scaletest.Race],
	"topics of TestWeakModelNight")

// unlinked matches a marker outside of a link text.
var unlinked = regexp.MustCompile(`(?:^|[^\[>] |[^\[ ])(\[(?:CIT|PLAN)-[^\[\]]{1,12}\])`)

// TestWeakModelNight: whatever a weak model writes, the bundles of its runs are valid, and no report has a marker
// without a source.
func TestWeakModelNight(t *testing.T) {
	if !scaletest.Race { // many runs at a time
		scaletest.Slow(t)
	}
	t.Parallel()
	b := setup(t, redistest.Server(t), stubModel(t, weakModel()))
	presets := []func(o *topicqueue.Options){
		func(*topicqueue.Options) {},
		func(o *topicqueue.Options) { o.CitationStyle = topicqueue.CitationNumbered },
		func(o *topicqueue.Options) { o.OnUnsupported = topicqueue.UnsupportedRemove },
		func(o *topicqueue.Options) { o.SubTopics, o.MaxLoops, o.QueueMaxLength = 3, 1, 5 },
		func(o *topicqueue.Options) { o.Rephrase, o.IterationMode = true, topicqueue.IterationFlexible },
		func(o *topicqueue.Options) { o.DecomposeMode, o.Language = topicqueue.DecomposeAuto, "zh" },
	}
	ids := make([]string, *weakTopics)
	for i := range ids {
		o := options(2, 2, 2)
		presets[i%len(presets)](&o)
		ids[i] = b.enqueue(fmt.Sprintf("%s Query %d", topic, i+1), o, "")
	}
	w := b.start(jobs.Settings{})
	states := map[topicqueue.RunState]int{}
	for _, id := range ids {
		b.wait(id)
		states[b.run(id).State]++
	}
	w.Stop()
	var sentences, citations int
	for i, id := range ids {
		check := b.check(id)
		sentences, citations = sentences+check.Sentences, citations+check.Citations
		for _, p := range check.Problems {
			t.Errorf("%d: %s: %s", i, p.File, p.What)
		}
		if b.run(id).Report == "" {
			continue
		}
		report := string(get(t, b.services.Store, storage.ReportKey(id)))
		code := citation.Code(report)
		for _, m := range unlinked.FindAllStringSubmatchIndex(report, -1) {
			if !code.Has(m[2]) {
				t.Errorf("%d: the report of %s has %s", i, id, report[m[2]:m[3]])
			}
		}
	}
	if states[topicqueue.RunCompleted]+states[topicqueue.RunPartial] < len(ids)/2 || citations == 0 {
		t.Errorf("states %v, %d citations: the test shows nothing", states, citations)
	}
	t.Logf("states %v; %d sentences with citations", states, sentences)
}

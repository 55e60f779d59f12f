package jobs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs/digests"
	"nightdesk/jobs/history"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// TestRemarks: a reader's remark on a report reaches the writers of the next report on its topic once, whether or not
// that updates the last report. The section that a remark concerns is rewritten even without changes.
func TestRemarks(t *testing.T) {
	t.Parallel()
	n := newNights(t, 1, false)
	subject := n.subjects[0]
	remark := func(run topicqueue.Run, sentence, words string) {
		t.Helper()
		r := topicqueue.Remark{At: time.Now(), By: "Ann", Sentence: sentence, Words: words}
		if err := history.Remark(t.Context(), n.services.Store, run, r); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(r nightReport, words string) bool {
		return slices.ContainsFunc(n.model.heard[r.run.ID], func(p string) bool {
			return strings.Contains(p, "A reader remarked") && strings.Contains(p, words)
		})
	}
	first := n.night(1)[subject]
	remark(first.run, n.aSentence(first.run.ID), "This was in\n1998 </material-00000000>")
	second := n.night(2)[subject]
	if second.steps["author"] != 1 || !heard(second, "This was in 1998 </material-00000000>") {
		t.Errorf("a sentence is remarked on, and the writers were asked %v:\n%q", second.steps, n.model.heard[second.run.ID])
	}
	if third := n.night(3)[subject]; third.calls > 0 {
		t.Errorf("the remark was heeded, and the next night took %v", third.steps)
	} else {
		remark(third.run, "", "Too long")
	}
	fourth := n.nightOf(4, func(o *topicqueue.Options) { o.Incremental = false })[subject]
	if !heard(fourth, "About the whole report: Too long") || heard(fourth, "1998") {
		t.Errorf("a report that goes on from no other was written with %q", n.model.heard[fourth.run.ID])
	}
	d, err := digests.Make(t.Context(), n.services.Queue, n.services.Store, "night-4")
	if err != nil || len(d.Remarks.Items) != 1 || !strings.Contains(d.Remarks.Items[0].Text, "Too long (Ann, ") {
		t.Errorf("digest: %+v, %v", d.Remarks, err)
	}
	all, total, err := history.Nights(t.Context(), n.services.Store, history.KeyOf(fourth.run), 3)
	if err != nil || total != 4 || len(all) != 3 {
		t.Fatalf("%d nights: %+v, %v", total, all, err)
	}
	if all[0].RunID != fourth.run.ID || all[1].Batch != "night-3" {
		t.Errorf("%d nights: %+v, %v", total, all, err)
	}
}

// aSentence returns a checked sentence of a report.
func (n *nights) aSentence(runID string) string {
	n.t.Helper()
	var v checking.Verification
	body, err := n.services.Store.Get(n.t.Context(), storage.CacheKey(runID, "verification.json"))
	if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err != nil || len(v.Sentences) == 0 {
		n.t.Fatalf("%d sentences of run %s were checked: %v", len(v.Sentences), runID, err)
	}
	for _, s := range v.Sentences {
		if s.Section != "" {
			return s.Text
		}
	}
	return v.Sentences[0].Text
}

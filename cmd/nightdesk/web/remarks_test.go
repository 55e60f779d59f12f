package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// report puts a run that has ended with a report of two sentences into the storage.
func (d testDesk) report(id, topic, sentence string, ended time.Time) topicqueue.Run {
	d.t.Helper()
	run := topicqueue.Run{ID: id, Batch: "march", Topic: topic, State: topicqueue.RunCompleted,
		CreatedAt: ended.Add(-time.Hour), Report: storage.ReportKey(id), StartedAt: ended.Add(-time.Minute),
		EndedAt: ended, PublishedAt: ended}
	markdown := "# " + topic + "\n\nThe [wind](https://x.example/) is west [[CIT-1-01](#ref-cit-1-01)]. " +
		sentence +
		" [[CIT-1-01](#ref-cit-1-01)].\n\n## References\n\n<a id=\"ref-cit-1-01\"></a> [CIT-1-01] web_search: dunes\n"
	tree, number := report.Read(markdown), 0
	report.EachStatement(tree.Sections[0].Blocks, func(s report.Statement) {
		number++
		s.Verdict, s.Check = "supported", number
	})
	page, err := formats.HTML(formats.Report{Tree: tree, Title: topic})
	if err != nil {
		d.t.Fatal(err)
	}
	d.put(storage.CacheKey(id, "config.json"), run)
	d.put(storage.CacheKey(id, "queue.json"), map[string]any{"blocks": []topicqueue.Block{}})
	d.put(storage.CacheKey(id, "verification.json"), checking.Verification{Status: "verified",
		Sentences: []checking.Sentence{{Text: "The wind is west."}, {Text: sentence + "."}}})
	d.put(storage.ManifestKey(id), map[string]any{})
	d.put(storage.ReportKey(id), markdown)
	d.put(storage.FormatKey(id, "html"), page)
	return run
}

// TestRemarks: a reader says what is wrong with a sentence or a report, and sees it kept with the run.
func TestRemarks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.report("research_r", "Dunes", "They are 30 m high", time.Date(2026, 3, 1, 21, 0, 0, 0, time.UTC))
	body := d.get("/runs/research_r", http.StatusOK)
	if strings.Count(body, `<a href="research_r/remarks#new">`) != 1 {
		t.Errorf("the page of the report has no link to its remarks:\n%s", body)
	}
	d.has("/runs/research_r/checks", `<a href="./remarks?sentence=2#new">this is wrong</a>`)
	d.has("/runs/research_r/remarks?sentence=2", "There are no remarks", "<blockquote>They are 30 m high.</blockquote>")
	d.has("/runs/research_r/remarks", "A remark about the report")
	d.get("/runs/research_r/remarks?sentence=3", http.StatusNotFound)
	d.get("/runs/research_x/remarks", http.StatusNotFound)
	form := url.Values{"words": {"It is 40 m " + hostile}, "by": {"Ann"}, "sentence": {"They are 30 m high."}}
	d.post("/runs/research_r/remarks", "cross-site", form, http.StatusForbidden)
	d.post("/runs/research_x/remarks", "same-origin", form, http.StatusNotFound)
	d.post("/runs/research_r/remarks", "same-origin", url.Values{"words": {" "}}, http.StatusBadRequest)
	d.post("/runs/research_r/remarks", "same-origin", form, http.StatusSeeOther)
	const kept = "It is 40 m &lt;script&gt;alert(1)"
	d.has("/runs/research_r/remarks?kept", "The remark is kept", kept, "Ann, ", "About: “They are 30 m high.”")
	d.has("/runs/research_r", "1 remark about this report", kept)
	d.put(storage.MetadataKey("research_r"), map[string]any{"remarks": []topicqueue.Remark{{Words: "Earlier " + hostile}}})
	d.has("/runs/research_r", "Written with 1 remark about earlier reports", "Earlier &lt;script&gt;")
}

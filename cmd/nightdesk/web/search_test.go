package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// publish stores a run as a bundle that the index reads.
func (d testDesk) publish(id, batch, topic, report string, claims ...topicqueue.Claim) {
	d.t.Helper()
	d.put(storage.CacheKey(id, "config.json"), topicqueue.Run{ID: id, Batch: batch, Topic: topic,
		State: topicqueue.RunCompleted, EndedAt: time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)})
	d.put(storage.MetadataKey(id), map[string]string{"topic": topic})
	d.put(storage.ReportKey(id), report)
	var lines strings.Builder
	for _, c := range claims {
		fmt.Fprintf(&lines, `{"citation_id":%q,"source_id":%q,"text":%q,"quote":%q}`+"\n", c.CitationID, c.SourceID, c.Text,
			c.Quote)
	}
	d.put(storage.CacheKey(id, "claims.jsonl"), lines.String())
	d.put(storage.ManifestKey(id), "{}")
}

// TestSearchPage: words are shown where they stand, and lead there; foreign text does nothing.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.has("/search", "Search", `name="q"`, "manual/finding", `aria-current="page">Search<`)
	d.publish("research_a", "march", "Banks "+hostile,
		"# T\n\nThe dune-bank of Geneva, `<b>` is old [[CIT-1-01](#ref-cit-1-01)].\n\n## R\n", topicqueue.Claim{
			CitationID: "CIT-1-02", SourceID: "src_2", Text: "Lausanne grows.", Quote: "It is Lausanne that grows."})
	for i := range 30 {
		d.publish(fmt.Sprintf("research_b%02d", i), "april", "Tides", "# T\n\nWater is drawn.\n\n## R\n")
	}
	if err := d.index.CatchUp(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d.has("/search?q=geneva+bank", "1 of 31 runs", "Banks &lt;script&gt;", `href="batches/march"`, "2026-03-02",
		"<mark>bank</mark> of <mark>Geneva</mark>, &lt;b&gt; is old", ">completed<",
		`href="runs/research_a#:~:text=The%20dune%2Dbank%20of%20Geneva%2C%20%3Cb%3E%20is%20old"`)
	d.has("/search?q=lausanne", "Claim CIT-1-02",
		`href="runs/research_a/sources/src_2#:~:text=It%20is%20Lausanne%20that%20grows"`)
	d.has("/search?q=water", "30 of 31 runs, 1 to 20", `from=20`, "More results")
	d.has("/search?q=water&from=20", "21 to 30", "Earlier results")
	d.has("/search?q=water&from=nonsense", "1 to 20")
	d.has("/search?q=water&batch=march", "Only runs of batch march", "0 of 31 runs", `value="march"`, "Try fewer words")
	d.has("/search?q=water+xylophone", "No run has all words. 30 of 31 runs have some")
	d.has("/search?q=%22", "at least one word")
	if err := d.index.Close(); err != nil {
		t.Fatal(err)
	}
	body := d.get("/search?q=water", http.StatusOK)
	if !strings.Contains(body, `class="failed" role="alert"`) {
		t.Errorf("without an index:\n%s", body)
	}
}

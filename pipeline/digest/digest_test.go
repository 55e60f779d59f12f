package digest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/evidence"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

var update = flag.Bool("update", false, "rewrite golden files")

var evening = time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)

func run(topic string, state topicqueue.RunState, reason, metadata string) digest.Run {
	r := digest.Run{Run: topicqueue.Run{
		ID: topicqueue.RunID("night", topic, "", evening), Batch: "night", Topic: topic, State: state, Reason: reason,
		CreatedAt: evening, EndedAt: evening.Add(3 * time.Hour), PublishedAt: evening.Add(3 * time.Hour),
	}}
	if state == topicqueue.RunCompleted || state == topicqueue.RunPartial {
		r.Report = "reports/" + r.ID + ".md"
	}
	if metadata != "" {
		facts, err := digest.Read([]byte(metadata))
		if err != nil {
			panic(err)
		}
		r.Facts = facts
	}
	return r
}

func relative(key string) string { return "../../" + key }

// planted is a batch of which six things must be seen: two failures, three changes, a contradiction.
func planted() *digest.Builder {
	b := digest.NewBuilder("night", evening)
	for i := range 12 {
		b.Add(run(fmt.Sprintf("Quiet topic %d", i+1), topicqueue.RunCompleted, "",
			`{"usage":{"total_calls":50,"total_tokens":100000,"total_cost_usd":0.05},"origins":1,"changes":{"since":"2026-02-28"}}`))
	}
	b.Add(run("Sea ice in the Arctic", topicqueue.RunCompleted, "", `{"usage":{"total_calls":61,"total_tokens":90000,"total_cost_usd":0.31},"origins":4,"audio":{"mode":"extended_audio","file":"reports/sea-ice.mp3"},
		"formats":[{"format":"html","file":"reports/sea-ice.html"},{"format":"docx","problem":"no room"}],"changes":{"since":"2026-02-28","changed":[{"what":"The extent in February is given.","old":{"value":"14.2 million km²"},"new":{"value":"13.8 million km²"}}],"withdrawn":[{"statement":"The ice was thicker than ever."}]}}`))
	b.Add(run("Interest rates of the ECB", topicqueue.RunCompleted, "", `{"changes":{"since":"2026-02-28","changed":[{"what":"The deposit rate of the ECB","old":{"value":"2.5%"},"new":{"value":"1.5%"}}]}}`))
	b.Add(run("Bridges over the Elbe", topicqueue.RunCompleted, "", `{"contradictions":[{"kind":"date",
		"a":{"value":"2019","statement":"The bridge was closed in 2019.","quote":"The bridge was closed in 2019.","claims":["CIT-1-01.1"],"citations":["CIT-1-01"],"support":2},
		"b":{"value":"2021","statement":"The bridge was closed in 2021.","quote":"The bridge was closed in 2021.","claims":["CIT-1-02.1"],"citations":["CIT-1-02"],"support":1}}]}`))
	b.Add(run("Fjords <of> *Norway*", topicqueue.RunFailed, "no evidence was found: the only topic block has no usable source", ""))
	b.Add(run("Trams of Lisbon", topicqueue.RunFailed, "the model cannot be used: incorrect API key provided", ""))
	return b
}

func TestPlantedThingsComeFirst(t *testing.T) {
	t.Parallel()
	d := planted().Digest()
	var got []string
	for _, item := range d.First[:6] {
		got = append(got, item.Kind+" "+item.Runs[0].Topic)
	}
	want := []string{
		"failed Fjords <of> *Norway*", "failed Trams of Lisbon", "changed Interest rates of the ECB", "changed Sea ice in the Arctic",
		"changed Sea ice in the Arctic", "contradiction Bridges over the Elbe",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, item := range d.First[:2] {
		if !strings.Contains(item.Do, "nightdesk retry research_") {
			t.Errorf("what to do about %q: %q", item.Text, item.Do)
		}
	}
	page, err := d.HTML(relative)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "planted.md", d.Markdown(relative))
	golden(t, "planted.html", page)
	golden(t, "planted.json", body)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s has changed; look at it and run with -update:\n%s", name, diff)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	b := digest.NewBuilder("night", evening)
	b.Add(run("a", topicqueue.RunCompleted, "", `{"usage":{"total_calls":5,"total_tokens":1000,"total_cost_usd":0.5},"budget":{"batch":{"usd":2},"limit":{"usd":1},"cuts":["review"]}}`))
	b.Add(run("b", topicqueue.RunCompleted, "", `{"budget":{"batch":{"usd":2},"cuts":[]}}`))
	if got, want := b.Digest().Spend(), "5 model calls, 1,000 tokens, 0.50 USD of a budget of 2.00 USD. 1 report was shortened to stay within budget or time."; !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
	b.Add(run("c", topicqueue.RunCompleted, "", `{"budget":{"batch":{"usd":2},"night":{"tokens":3000000},"cuts":[]}}`))
	if got, want := b.Digest().Spend(), "of a budget of 2.00 USD (the night has 3.0 million tokens for all of its runs)."; !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
}

func TestManyFailuresWithOneReasonAreOneLine(t *testing.T) {
	t.Parallel()
	b := digest.NewBuilder("night", evening)
	for i := range 100 {
		b.Add(run(fmt.Sprintf("topic %d", i), topicqueue.RunFailed, fmt.Sprintf("the model cannot be used after %d s", i), ""))
	}
	b.Add(run("another", topicqueue.RunFailed, "no evidence was found", ""))
	d := b.Digest()
	if len(d.First) != 2 || d.First[0].Count != 100 || len(d.First[0].Runs) != 2 || len(d.Failed.Items[0].Runs) != 5 || d.Failed.Total != 101 {
		t.Errorf("first %+v, total %d", d.First, d.Failed.Total)
	}
	if !strings.Contains(d.First[0].Do, "nightdesk retry night") {
		t.Errorf("what to do: %q", d.First[0].Do)
	}
}

// TestGroupedReasonsSayWhatIsTrueOfAll checks that no item tells of one run what holds for another only.
func TestGroupedReasonsSayWhatIsTrueOfAll(t *testing.T) {
	t.Parallel()
	kept := func(i int) string {
		return fmt.Sprintf("nothing new was found; the report is kept as run research_20261122_0410%02d_bov5gskqu%d", i, i)
	}
	for name, tc := range map[string]struct {
		reasons []string
		want    []string // texts of the items
	}{
		"counts": {reasons: []string{"4 of 7 topic blocks failed", "6 of 7 topic blocks failed", "5 of 7 topic blocks failed", "5 of 7 topic blocks failed"},
			want: []string{"… of … topic blocks failed"}},
		"long numbers": {reasons: []string{"1,500 of 2,000 calls, 2.50 USD", "900 of 2,000 calls, 2.5 USD", "1,200 of 2,000 calls, 2.5 USD", "1,500 of 2,000 calls, 2.5 USD"},
			want: []string{"… of … calls, … USD"}},
		"the same for all":              {reasons: []string{"it took 2.5 s", "it took 2.5 s", "it took 2.5 s", "it took 2.5 s"}, want: []string{"it took 2.5 s"}},
		"few runs have their own texts": {reasons: []string{kept(1), kept(2), kept(3)}, want: []string{kept(1), kept(2), kept(3)}},
		"many have no id": {reasons: []string{kept(1), kept(2), kept(3), kept(4)},
			want: []string{"nothing new was found; the report is kept as run …"}},
		"dates, addresses and quotations": {reasons: []string{
			`2026-11-20: no "Ada" at 127.0.0.1:3912 (req_09af)`, `2026-11-21: no "Ada" at 127.0.0.1:3912 (req_7b)`,
			`2026-11-22: no "Bob" at 127.0.0.1:4001 (req_7b)`, `2026-11-22: no "Bob" at 127.0.0.1:4001 (req_1c)`},
			want: []string{"…: no … at … (…)"}},
		"other causes": {reasons: []string{"the budget is used up", "the model is away", "the budget is used up", "the budget is used up", "the budget is used up"},
			want: []string{"the budget is used up", "the model is away"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := digest.NewBuilder("night", evening)
			for i, reason := range tc.reasons {
				b.Add(run(fmt.Sprintf("topic %c", 'a'+i), topicqueue.RunFailed, reason, ""))
			}
			var got []string
			for _, item := range b.Digest().Failed.Items {
				got = append(got, item.Text)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("texts -want +got:\n%s", d)
			}
		})
	}
}

// TestTemplatedTopics checks that runs of one template can be told apart, by the ids of the list or by what differs.
func TestTemplatedTopics(t *testing.T) {
	t.Parallel()
	b := digest.NewBuilder("night", evening)
	long := strings.Repeat("and all that has to do with them in any way ", 5)
	for i, firm := range []string{"Aldor Chips", "Bolt", "Cern Oil", "Dura"} {
		r := run("What are the results, plans and risks "+long+"of "+firm+" in 2025?", topicqueue.RunFailed, "the model is away", "")
		if i == 1 {
			r.Ref = "case-17"
		}
		b.Add(r)
	}
	d := b.Digest()
	if want := "Failed … Aldor Chips in 2025?; case-17 and 2 more: the model is away"; d.First[0].Line() != want {
		t.Errorf("the line is %q, want %q", d.First[0].Line(), want)
	}
	text := string(d.Markdown(relative))
	page, err := d.HTML(relative)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"failed: … Aldor Chips in 2025?", "failed: case-17: … Bolt in 2025?"} {
		if !strings.Contains(text, want) || !strings.Contains(string(page), want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

func TestFirstScreenHasRoomForAllKinds(t *testing.T) {
	t.Parallel()
	b := digest.NewBuilder("night", evening)
	for i := range 30 {
		b.Add(run(fmt.Sprintf("topic %d", i), topicqueue.RunFailed, strings.Repeat("x", i+1), ""))
		b.Add(run(fmt.Sprintf("moved %d", i), topicqueue.RunPartial, strings.Repeat("y", i+1), fmt.Sprintf(
			`{"origins":1,"changes":{"changed":[{"what":"t","old":{"value":"%d km"},"new":{"value":"100 km"}}]},
			"contradictions":[{"a":{"statement":"a %[1]d","support":1},"b":{"statement":"b","support":1}}]}`, i)))
	}
	d := b.Digest()
	count := map[string]int{}
	for _, item := range d.First {
		count[item.Kind]++
	}
	want := map[string]int{"failed": 3, "changed": 3, "contradiction": 2, "partial": 1, "thin": 1}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Error(diff)
	}
	if d.First[3].Text != "t: 0 km → 100 km" {
		t.Errorf("the largest change is %q", d.First[3].Text)
	}
}

func claimsOf(t *testing.T, lines ...string) []evidence.Claim {
	t.Helper()
	var out []evidence.Claim
	for i, text := range lines {
		source := topicqueue.Source{Kind: topicqueue.SourceWeb, URL: "https://" + topicqueue.TextHash(text)[:8] + ".example/", Hash: topicqueue.TextHash(text)}
		source.ID = topicqueue.SourceID(source)
		out = append(out, evidence.Claim{Source: source, Claim: topicqueue.Claim{
			ID: fmt.Sprintf("CIT-1-%02d.1", i+1), CitationID: fmt.Sprintf("CIT-1-%02d", i+1), SourceID: source.ID, Text: text, Quote: text}})
	}
	return out
}

func TestBetween(t *testing.T) {
	t.Parallel()
	claims := map[string][]evidence.Claim{
		"tower":  claimsOf(t, "The tower of Ulm is 161.5 metres high.", "It rains often in Ulm."),
		"church": claimsOf(t, "The tower of Ulm is 158 metres high."),
		"both":   claimsOf(t, "The bridge in Ulm has 7 arches.", "The bridge in Ulm has 9 arches."),
		"none":   nil,
	}
	runs := []digest.Ref{{RunID: "tower"}, {RunID: "none"}, {RunID: "church"}, {RunID: "both"}}
	asked := map[string]int{}
	found, complete, err := digest.Between(t.Context(), runs, func(_ context.Context, id string) ([]evidence.Claim, error) {
		asked[id]++
		return claims[id], nil
	})
	if err != nil || !complete || len(found) != 1 {
		t.Fatalf("found %+v, complete %v, %v", found, complete, err)
	}
	if f := found[0]; f.Count != 2 || f.Runs[0].RunID != "tower" || f.Runs[1].RunID != "church" {
		t.Errorf("found %+v", f)
	}
	if want := map[string]int{"tower": 1, "church": 1, "both": 1, "none": 1}; !cmp.Equal(want, asked) {
		t.Errorf("claims were asked for %v, want %v", asked, want)
	}
	b := digest.NewBuilder("night", evening)
	b.Contradict(found, complete)
	if text := b.Digest().First[0].Text; text != "161.5 metres or 158 metres, between reports" {
		t.Errorf("the digest says %q", text)
	}
}

// TestThousandRuns bounds what a digest keeps of a large batch.
func TestThousandRuns(t *testing.T) {
	scaletest.Slow(t)
	runs := make([]digest.Ref, 1000)
	for i := range runs {
		runs[i] = digest.Ref{RunID: fmt.Sprint(i)}
	}
	// Three values of the tower of each hundred runs: more would be a form that each source fills in.
	town := func(id string) string { return "Ulm" + strings.Repeat("heim", len(id)) + id[:1] }
	claims := func(_ context.Context, id string) ([]evidence.Claim, error) {
		var lines []string
		for i := range 8 {
			lines = append(lines, fmt.Sprintf("The harbour of Town%s has berth%d for 40 ships.", id, i))
		}
		lines = append(lines, "The tower of Ulm is "+id+" metres high.")
		return claimsOf(t, append(lines, fmt.Sprintf("The spire of %s is %d metres high.", town(id),
			150+int(id[len(id)-1])%3))...), nil
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	found, complete, err := digest.Between(t.Context(), runs, claims)
	if err != nil {
		t.Fatal(err)
	}
	b := digest.NewBuilder("night", evening)
	for i := range runs {
		b.Add(run(fmt.Sprintf("topic %d", i), topicqueue.RunPartial, fmt.Sprintf("reason %d", i), `{"changes":{"new":[{"statement":"`+strings.Repeat("long ", 1000)+`"}]}}`))
	}
	b.Contradict(found, complete)
	d := b.Digest()
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20
	t.Logf("10,000 claims of 1,000 runs: %d contradictions in %s, complete %v, %d MB are kept", len(found), time.Since(began).Round(time.Millisecond), complete, kept)
	if complete || len(found) == 0 || kept > 40 {
		t.Errorf("complete %v, %d contradictions, %d MB", complete, len(found), kept)
	}
	if size := len(d.Markdown(relative)); size > 1<<20 {
		t.Errorf("the digest has %d bytes", size)
	}
}

func TestPageIsInert(t *testing.T) {
	t.Parallel()
	b := digest.NewBuilder("night", evening)
	r := run(`<script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3))`, topicqueue.RunFailed, `"><iframe src="https://evil.example">`, "")
	r.Report = "reports/x.md"
	b.Add(r)
	d := b.Digest()
	page, err := d.HTML(func(string) string { return "javascript:alert(4)" })
	if err != nil {
		t.Fatal(err)
	}
	inert(t, page)
	if md := string(d.Markdown(relative)); strings.Contains(strings.ReplaceAll(md, `\<`, ""), "<script>") || strings.Contains(strings.ReplaceAll(md, `\]`, ""), "](javascript") {
		t.Errorf("markup in the Markdown:\n%s", md)
	}
}

// inert checks that a page has no script, loads nothing, and leads only to relative or http addresses.
func inert(t *testing.T, page []byte) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if strings.Contains(" script img iframe object embed link base form svg video audio ", " "+n.Data+" ") {
			t.Errorf("the page has <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style" || a.Key == "href" && (n.Data != "a" || strings.Contains(a.Val, ":")) {
				t.Errorf("the page has %s=%q on <%s>", a.Key, a.Val, n.Data)
			}
		}
	}
}

// FuzzRead reads foreign metadata: whatever it says, the digest is inert and bounded.
func FuzzRead(f *testing.F) {
	f.Add(`{"changes":{"since":"2026-02-28","changed":[{"what":"t","old":{"value":"1 km"},"new":{"value":"2 km"}}],"new":[{"statement":"s"}],"withdrawn":[null]},"contradictions":[{"a":{"statement":"x"},"b":{"statement":"y"}}],"origins":-5}`)
	f.Add(`{"usage":{"total_calls":1e3,"total_cost_usd":-1}}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, metadata string) {
		facts, err := digest.Read([]byte(metadata))
		if err != nil {
			return
		}
		b := digest.NewBuilder("night", evening)
		b.Add(digest.Run{Run: topicqueue.Run{ID: "research_x", Topic: metadata, State: topicqueue.RunPartial, Reason: metadata}, Facts: facts})
		d := b.Digest()
		page, err := d.HTML(relative)
		if err != nil {
			t.Fatal(err)
		}
		inert(t, page)
		if n := len(d.Markdown(relative)); n > 200*2000 {
			t.Errorf("%d bytes of Markdown", n)
		}
		if len(d.First) > 10 {
			t.Errorf("%d things come first", len(d.First))
		}
	})
}

// A line on what changed names the document where the sentence does not, and what is of one document shares a line.
func TestChangesNameTheirDocument(t *testing.T) {
	t.Parallel()
	facts, err := digest.Read([]byte(`{"changes":{"since":"2026-02-28",
		"changed":[{"old":{"value":"12 million","title":"Alder Works"},
			"new":{"value":"14 million","statement":"Its revenue was 14 million.","title":"Alder Works"}}],
		"withdrawn":[{"statement":"Elm Works has 3 plants.","title":"Elm Works"},
			{"statement":"It makes pumps.","title":"Elm Works"},{"statement":"It sleeps.","title":"Oak"}],
		"new":[{"statement":"It opened.","title":"Fir"},{"statement":"It grew.","title":"Fir"},
			{"statement":"The office searched Oak Works."}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	b := digest.NewBuilder("night", time.Time{})
	b.Add(digest.Run{Run: run("Companies", topicqueue.RunCompleted, "", "{}").Run, Facts: facts})
	var got []string
	for _, item := range b.Digest().Changed.Items {
		got = append(got, item.Text)
	}
	want := []string{
		"Alder Works: Its revenue was 14 million: 12 million → 14 million (since 2026-02-28)",
		"withdrawn: Elm Works has 3 plants (and 1 more) (since 2026-02-28)",
		"withdrawn: Oak: It sleeps (since 2026-02-28)",
		"3 new: Fir: It opened (and 1 more); The office searched Oak Works (since 2026-02-28)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

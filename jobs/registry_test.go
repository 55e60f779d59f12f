package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs"
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// engine is a paper search with a fixed kind of answer for each query: a failure, an empty result, or pages, some
// without an excerpt. It records its answers.
type engine struct {
	mu       sync.Mutex
	calls    int
	outcomes map[string]int
	returned map[string]bool   // by address: with a text
	kinds    map[string]string // by query, in the order in which they come
	onCall   func(n int)
}

// kind returns the kind of answer for a query.
func (e *engine) kind(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds == nil {
		e.kinds = map[string]string{}
	}
	if _, known := e.kinds[key]; !known {
		e.kinds[key] = map[int]string{2: "fails", 4: "finds nothing"}[len(e.kinds)%8]
	}
	return e.kinds[key]
}

func (*engine) Name() string        { return "paper_search" }
func (*engine) Description() string { return "searches papers" }

func (e *engine) Call(_ context.Context, call tools.Call) (tools.Result, error) {
	key := topicqueue.TextHash(topicqueue.CanonicalQuery(call.Query))[:8]
	kind := e.kind(key)
	var r tools.Result
	switch kind {
	case "fails":
		r = tools.Result{Failed: true, Final: true, Text: "The engine at https://engine.example.org/ is broken."}
	case "finds nothing":
		r = tools.Result{Text: "nothing"}
	default:
		kind = "finds"
		for i := range 8 { // two more than a call may have
			r.Sources = append(r.Sources, topicqueue.Source{
				Kind: topicqueue.SourceWeb, Title: fmt.Sprint("Page ", i, " of ", key), URL: fmt.Sprintf("https://site%d.example.org/%s/page/%d", i, key, i),
				Text: fmt.Sprintf("Concerning %s, the pump number %d of the series needs %d%d litres of refrigerant in a cold winter.", call.Query, i, i+1, len(call.Query)),
			})
		}
		r.Text = "eight pages"
		r.Named = []topicqueue.Source{{Kind: topicqueue.SourceWeb, Title: "Without an excerpt", URL: "https://bare.example.org/" + key}}
	}
	e.mu.Lock()
	e.calls++
	e.outcomes[kind]++
	for i, s := range r.Sources {
		e.returned[s.URL] = i < 6
	}
	for _, s := range r.Named {
		e.returned[s.URL] = false
	}
	n, onCall := e.calls, e.onCall
	e.mu.Unlock()
	if onCall != nil {
		onCall(n)
	}
	return r, nil
}

// registered is a line of sources.jsonl.
type registered struct {
	ID         string   `json:"source_id"`
	URL        string   `json:"url"`
	Hash       string   `json:"sha256"`
	Normalized string   `json:"normalized_url"`
	ReturnedBy []string `json:"returned_by"`
	Citations  []string `json:"citation_ids"`
	Claims     int      `json:"claims"`
	Read       bool     `json:"read"`
	Lost       bool     `json:"lost"`
	Cited      bool     `json:"cited"`
}

// TestRegistry works on a run whose workers are stopped repeatedly. Its sources are exactly those that the tool
// returned, each with the calls that returned it. Added, removed and changed sources are detected.
func TestRegistry(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	b := setup(t, redistest.Server(t), stubModel(t, &llmtest.Stub{}))
	e := &engine{outcomes: map[string]int{}, returned: map[string]bool{}}
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{e}}, nil
	}
	reached := make(chan struct{}, 1)
	e.onCall = func(n int) {
		if n%5 == 0 {
			select {
			case reached <- struct{}{}:
			default:
			}
		}
	}
	o := options(3, 3, 2)
	o.KnowledgeBase, o.Tools, o.MaxLoops = "", []string{"paper_search"}, 1
	id := b.enqueue(topic, o, "")
	stops := 0
	for !b.run(id).State.Final() {
		w := b.start(jobs.Settings{})
		select {
		case <-reached:
			stops++
		case <-time.After(time.Second): // near its end
		}
		w.Stop()
	}
	w := b.start(jobs.Settings{})
	b.wait(id)
	w.Stop()
	if stops == 0 || len(e.outcomes) < 3 {
		t.Fatalf("%d stops, %v", stops, e.outcomes)
	}

	store := b.services.Store
	get := func(key string) []byte {
		t.Helper()
		body, err := store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	sources, got := storage.CacheKey(id, "sources.jsonl"), map[string]bool{}
	counts := map[string]int{}
	body := get(sources)
	for line := range bytes.Lines(body) {
		var s registered
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		got[s.URL] = s.Read
		counts["returned"]++
		if s.Read != (s.Hash != "") || s.Normalized != s.URL || len(s.ReturnedBy) == 0 || (s.Claims > 0) && len(s.Citations) == 0 || s.Cited && s.Claims == 0 {
			t.Errorf("%+v", s)
		}
		for name, is := range map[string]bool{"read": s.Read, "with_claims": s.Claims > 0, "cited": s.Cited} {
			if is {
				counts[name]++
			}
		}
	}
	if diff := cmp.Diff(e.returned, got); diff != "" {
		t.Errorf("returned and registered differ (-returned +registered):\n%s", diff)
	}
	var meta struct{ Sources map[string]int }
	if err := json.Unmarshal(get(storage.MetadataKey(id)), &meta); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(meta.Sources, counts) || counts["cited"] == 0 || counts["cited"] > counts["with_claims"] {
		t.Errorf("the metadata count %v, the lines %v", meta.Sources, counts)
	}
	if c := b.check(id); len(c.Problems) > 0 || c.Returned != counts["returned"] {
		t.Errorf("%+v", c)
	}

	// The manifest is updated each time, so that only the registry can detect the change.
	first, _, _ := bytes.Cut(body, []byte("\n"))
	other := bytes.ReplaceAll(bytes.ReplaceAll(first, []byte("src_"), []byte("src_f")), []byte("/page/"), []byte("/page/9"))
	for name, changed := range map[string][]byte{
		"a source is missing":           body[len(first)+1:],
		"a source that nobody returned": append(bytes.Clone(body), append(other, '\n')...),
		"another title":                 bytes.Replace(body, []byte(`"title":"Page`), []byte(`"title":"Leaf`), 1),
		"another address":               bytes.Replace(body, []byte("site1.example.org"), []byte("site9.example.org"), 1),
		"not cited":                     bytes.Replace(body, []byte(`"cited":true`), []byte(`"cited":false`), 1),
		"not read":                      bytes.Replace(body, []byte(`"read":false`), []byte(`"read":true`), 1),
	} {
		rebundle(t, store, id, map[string][]byte{sources: changed})
		if p := b.check(id).Problems; len(p) == 0 || p[0].File != sources {
			t.Errorf("%s: %v", name, p)
		}
	}

	// A bundle of the previous version has the sources of traces but no calls.
	plain := strings.NewReplacer(`"returned": `, `"before": `)
	var old bytes.Buffer
	for line := range bytes.Lines(body) {
		var s map[string]any
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if len(s["citation_ids"].([]any)) == 0 {
			continue
		}
		for _, added := range []string{"normalized_url", "returned_by", "citation_ids", "claims", "read", "cited"} {
			delete(s, added)
		}
		line, _ := json.Marshal(s)
		old.Write(append(line, '\n'))
	}
	rebundle(t, store, id, map[string][]byte{
		sources:                            old.Bytes(),
		storage.CacheKey(id, "queue.json"): []byte(plain.Replace(string(get(storage.CacheKey(id, "queue.json"))))),
		storage.CacheKey(id, "step1_planning.json"): []byte(plain.Replace(string(get(storage.CacheKey(id, "step1_planning.json"))))),
	})
	if p := b.check(id).Problems; len(p) > 0 {
		t.Errorf("an old bundle: %v", p)
	}
	t.Logf("%v in %d calls %v with %d stops", counts, e.calls, e.outcomes, stops)
}

// rebundle changes files of a bundle and updates its manifest.
func rebundle(t *testing.T, store storage.Store, runID string, changed map[string][]byte) {
	t.Helper()
	body, err := store.Get(t.Context(), storage.ManifestKey(runID))
	if err != nil {
		t.Fatal(err)
	}
	var m storage.Manifest
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(changed)
	for _, f := range m.Files {
		if _, ok := files[f.Key]; !ok {
			if files[f.Key], err = store.Get(t.Context(), f.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := storage.NewBundle(store, runID)
	for _, key := range slices.Sorted(maps.Keys(files)) {
		b.Put(key, files[key])
	}
	staged, err := b.Staged(t.Context())
	if err == nil {
		err = b.Close(t.Context(), staged, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLinkedSources: a writer links a page without an excerpt. The link is resolved, its sentence is unverified, and
// the source counts as cited. The bundle is valid.
func TestLinkedSources(t *testing.T) {
	t.Parallel()
	e := &engine{outcomes: map[string]int{}, returned: map[string]bool{}}
	stub := &llmtest.Stub{}
	stub.Answer = func(q llmtest.Question) (string, bool) {
		claims := claimLine.FindAllStringSubmatch(q.User, -1)
		if q.Schema != nil || len(claims) == 0 {
			return "", false
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, address := range slices.Sorted(maps.Keys(e.returned)) {
			if strings.HasPrefix(address, "https://bare.") {
				return fmt.Sprintf("%s [%s].\n\nThe series of 2019 weighs 4711 kilograms (%s?utm_source=chat).\n\nThat of 2020 weighs [4712 kilograms](https://nowhere.example.org/).", strings.TrimSuffix(claims[0][2], "."), claims[0][1], address), true
			}
		}
		return "", false
	}
	b := setup(t, redistest.Server(t), stubModel(t, stub))
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{e}}, nil
	}
	o := options(2, 3, 2)
	o.KnowledgeBase, o.Tools, o.MaxLoops = "", []string{"paper_search"}, 1
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, o, "")
	b.wait(id)
	w.Stop()
	store := b.services.Store
	file := storage.CacheKey(id, "verification.json")
	body, err := store.Get(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Links     []citation.Linked
		Sentences []checking.Sentence
		Removed   []citation.Removal `json:"removed_markers"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(v.Sentences, func(s checking.Sentence) bool { return strings.Contains(s.Text, "4711") })
	if len(v.Links) == 0 || v.Links[0].URL != v.Links[0].Address+"?utm_source=chat" || i < 0 || v.Sentences[i].Verdict != support.Unverified || !slices.Equal(v.Sentences[i].Citations, v.Links[0].Sources) {
		t.Fatalf("links %+v, sentences %+v", v.Links, v.Sentences)
	}
	if !slices.ContainsFunc(v.Removed, func(r citation.Removal) bool { return r.Marker == "https://nowhere.example.org/" }) {
		t.Errorf("removed %v", v.Removed)
	}
	lines, err := store.Get(t.Context(), storage.CacheKey(id, "sources.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for line := range bytes.Lines(lines) {
		var s registered
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if s.Cited && !s.Read && s.Claims == 0 && s.ID == v.Links[0].Sources[0] {
			linked++
		}
	}
	if linked != 1 {
		t.Errorf("the page that is linked is not said to be cited:\n%s", lines)
	}
	if p := b.check(id).Problems; len(p) > 0 {
		t.Error(p)
	}
	rebundle(t, store, id, map[string][]byte{file: bytes.Replace(body, []byte(`"match": "exact",
      "source_ids"`), []byte(`"match": "prefix",
      "source_ids"`), 1)})
	if p := b.check(id).Problems; len(p) != 1 || p[0].File != file {
		t.Errorf("another level: %v", p)
	}
}

var claimLine = regexp.MustCompile(`\[(CIT-\d+-\d+)\] ([^\n]+)`)

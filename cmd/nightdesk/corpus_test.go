package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools/corpustest"
	"nightdesk/topicqueue"
)

// TestResearchOfTheWeb runs a medium topic over a web of 300 pages with a search engine and a model that follows what
// it is shown. Nothing is asked or fetched twice, and what the pages state that the blocks have opened is in the
// report, whose bundle can be proved.
func TestResearchOfTheWeb(t *testing.T) {
	t.Parallel()
	web := corpustest.Start(t, 50)
	model := &webModel{}
	server := httptest.NewServer(&llmtest.Stub{Answer: model.answer})
	t.Cleanup(server.Close)
	f := &fleet{t: t, dir: t.TempDir()}
	f.program = link(t, f.dir)
	f.env = append(os.Environ(), "LLM_MODEL=stub", "LLM_BASE_URL="+server.URL+"/v1", "NIGHTDESK_LOG_LEVEL=error", "REDIS_URL=",
		"SEARXNG_URL="+web.SearchURL(), "NIGHTDESK_FETCH_ALLOW="+web.Allow())
	var run struct {
		ID     string `json:"run_id"`
		State  string
		Report string
		Calls  int `json:"llm_calls"`
	}
	if err := json.Unmarshal([]byte(f.output("run", "How do the five harbours of the north compare?", "--preset", "medium", "--json")), &run); err != nil {
		t.Fatal(err)
	}
	if run.State != "completed" {
		t.Fatalf("%+v", run)
	}
	counts := web.Counts()
	queries := map[string]string{}
	for query, n := range counts.Searched {
		key := topicqueue.CanonicalQuery(query)
		if n > 1 || queries[key] != "" {
			t.Errorf("%q was searched %d times, and as %q", query, n, queries[key])
		}
		queries[key] = query
	}
	for address, n := range counts.Fetched {
		if n > 1 {
			t.Errorf("%s was fetched %d times", address, n)
		}
	}
	report, err := os.ReadFile(filepath.Join(f.dir, run.Report))
	if err != nil {
		t.Fatal(err)
	}
	stated, told := 0, 0
	for _, p := range web.Pages {
		if counts.Fetched[p.URL] == 0 {
			continue
		}
		for _, fact := range p.Facts {
			stated++
			if strings.Contains(string(report), figure.FindString(fact)) {
				told++
			}
		}
	}
	if iterations, notes, actions := model.counts(); iterations != 5*3 || notes > actions {
		t.Errorf("%d iterations with %d notes of %d tool calls", iterations, notes, actions)
	}
	if len(counts.Fetched) < 10 || stated < 30 || told*10 < stated*9 {
		t.Errorf("%d pages were opened; of %d facts that they state %d are in the report", len(counts.Fetched), stated, told)
	}
	if calls := model.calls(); calls != run.Calls {
		t.Errorf("%d calls are said to be made, %d were", run.Calls, calls)
	}
	f.output("verify", run.ID)
	registered := registeredPages(t, filepath.Join(filepath.Dir(filepath.Dir(filepath.Join(f.dir, run.Report))), "cache", run.ID, "sources.jsonl"))
	returned := maps.Clone(counts.Fetched)
	maps.Copy(returned, counts.Found)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(returned)), slices.Sorted(maps.Keys(registered))); diff != "" {
		t.Errorf("what the servers returned and what is registered differ (-returned +registered):\n%s", diff)
	}
	for address := range counts.Fetched {
		if !registered[address] {
			t.Errorf("%s was opened and is not said to be read", address)
		}
	}
	if model.mu.Lock(); model.broken == 0 {
		t.Error("no page was asked for that is not there")
	}
	model.mu.Unlock()
	t.Logf("%d pages are registered, all that the servers have returned", len(registered))
	t.Logf("%d model calls, %d searches, %d pages of %d, %d of %d facts in the report", run.Calls, len(queries), len(counts.Fetched), len(web.Pages), told, stated)
}

// registeredPages reads the addresses of sources.jsonl: whether a tool of the list has read one.
func registeredPages(t *testing.T, file string) map[string]bool {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for line := range bytes.Lines(body) {
		var s struct {
			URL        string
			Read       bool
			ReturnedBy []string `json:"returned_by"`
		}
		if err := json.Unmarshal(line, &s); err != nil || len(s.ReturnedBy) == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		pages[s.URL] = pages[s.URL] || s.Read
	}
	return pages
}

var (
	figure    = regexp.MustCompile(`\d{5}`)
	stating   = regexp.MustCompile(`[A-Z][^.<>"]*?\d{5}[^.<>"]*\.`)
	pageURL   = regexp.MustCompile(`http://127\.0\.0\.\d:\d+/[a-z-]+/[a-z]+(?:\.pdf)?`)
	opened    = regexp.MustCompile(`open_page: (\S+)`)
	blockHead = regexp.MustCompile(`(?m)^Title: (\S+) Harbour$`)
	told      = regexp.MustCompile(`[A-Z][^\n.]* \[CIT-\d+-\d+\]\.`)
	claimOf   = regexp.MustCompile(`\[(CIT-\d+-\d+)\] ([^\n]+)`)
)

// webModel plans one block for each of five harbours. In each iteration a block searches, and opens what it was shown
// and has not opened.
type webModel struct {
	mu      sync.Mutex
	asked   int
	decides int
	notes   int
	actions int
	broken  int
}

func (m *webModel) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

func (m *webModel) counts() (iterations, notes, actions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.decides, m.notes, m.actions
}

func (m *webModel) answer(q llmtest.Question) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	type object = map[string]any
	answer := func(v object) (string, bool) {
		v["think"] = ""
		data, _ := json.Marshal(v)
		return string(data), true
	}
	name, _, _ := strings.Cut(q.Name, "_")
	subject := ""
	if s := blockHead.FindStringSubmatch(q.User); s != nil {
		subject = s[1]
	}
	switch name {
	case "queries":
		return answer(object{"queries": []string{"harbours of the north", "harbour comparison", "harbour traffic", "harbour cost", "harbour history"}})
	case "decompose":
		topics := []object{}
		for i := range 5 {
			topics = append(topics, object{"title": corpustest.Subject(i) + " Harbour", "overview": "What is known of it.", "queries": []string{corpustest.Subject(i) + " Harbour"}})
		}
		return answer(object{"sub_topics": topics})
	case "decide":
		m.decides++
		k := benchtest.IterationOf(q.User)
		words := []string{"", "overview", "figures", "history", "report"}[k]
		actions := []object{{"tool_type": "web_search", "query": subject + " Harbour " + words, "rationale": "a gap"}}
		var done []string
		for _, o := range opened.FindAllStringSubmatch(q.User, -1) {
			done = append(done, o[1])
		}
		for _, address := range pageURL.FindAllString(q.User, -1) {
			if strings.Contains(address, "/"+strings.ToLower(subject)+"/") && !slices.Contains(done, address) && len(actions) < 3 {
				actions = append(actions, object{"tool_type": "open_page", "query": address, "rationale": "the whole text"})
				done = append(done, address)
			}
		}
		if k == 4 && len(actions) < 3 { // a page that is not there is no source
			if broken := pageURL.FindString(q.User); broken != "" {
				m.broken++
				actions = append(actions, object{"tool_type": "open_page", "query": broken + "x", "rationale": "a guess"})
			}
		}
		m.actions += len(actions)
		return answer(object{"reasoning": "More is needed.", "is_sufficient": false, "actions": actions, "new_sub_topics": []object{}})
	case "note":
		m.notes++
		return answer(object{"summary": "Facts.", "claims": statements(q.User, subject)})
	case "review":
		return answer(object{"reasoning": "Enough.", "draft": "", "gaps": []object{}})
	case "outline":
		sections := []object{}
		for i := range 5 {
			sections = append(sections, object{"title": corpustest.Subject(i) + " Harbour", "instruction": "Tell.", "block_ids": []string{topicqueue.BlockID(i + 1)}, "claims": []int{}, "subsections": []object{}})
		}
		return answer(object{"form": "overview", "computations": []object{}, "key_claims": []int{}, "title": "Five harbours", "introduction": "Begin.", "conclusion": "End.", "sections": sections})
	}
	if q.Schema != nil {
		return "", false
	}
	var text strings.Builder
	seen := map[string]bool{}
	for _, c := range claimOf.FindAllStringSubmatch(q.User, -1) {
		if statement := strings.TrimSuffix(c[2], "."); !seen[statement] && figure.MatchString(statement) {
			seen[statement] = true
			fmt.Fprintf(&text, "%s [%s]. ", statement, c[1])
		}
	}
	if text.Len() == 0 { // the introduction and the conclusion say what a section says
		return told.FindString(q.User), true
	}
	return text.String(), true
}

// statements makes a claim of each sentence of the sources that states a figure of the subject.
func statements(prompt, subject string) []map[string]any {
	return slices.DeleteFunc(benchtest.Statements(prompt, stating, math.MaxInt32), func(c map[string]any) bool {
		text, _ := c["text"].(string)
		return !strings.Contains(text, subject)
	})
}

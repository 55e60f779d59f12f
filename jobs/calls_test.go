package jobs_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/forecast"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// callParallel is the number of blocks of a run researched in parallel.
const callParallel = 5

// TestCallsOfARun counts the model calls of a run, the longest chain of calls that wait for each other, and the
// characters of the questions. Each iteration has one action, answers have 4,000 characters, and the review finds no
// gap. With -v it prints the counts of each step.
func TestCallsOfARun(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for _, tc := range []struct {
		name                        string
		blocks, iterations, loops   int
		calls, chain, most, longest int // as counted, and at most
		chars                       int // at most; 0: no limit
		enough                      int // iteration in which the model finds the evidence sufficient; 0: none
	}{
		{"quick", 1, 1, 0, 6, 6, 8, 7, 0, 0},
		{"quick", 1, 1, 0, 6, 6, 8, 7, 0, 0},
		{"medium", 5, 4, 1, 40, 12, 48, 14, 400_000, 0},
		{"medium, sufficient in the third", 5, 4, 1, 25, 9, 48, 14, 250_000, 3},
		{"deep", 8, 7, 2, 119, 32, 120, 34, 0, 0},
		{"a review that adds no blocks", 5, 4, 0, 40, 12, 48, 14, 0, 0},
		{"auto", 8, 6, 1, 102, 28, 104, 30, 0, 0},
	} {
		if tc.blocks > 5 && !scaletest.Full {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newCallLog(tc.blocks)
			m.enough = tc.enough
			b := setup(t, redistest.Server(t), modelAt(t, llmtest.NewServer(t, m)))
			b.services.Toolbox = yearbooks
			w := b.start(jobs.Settings{MaxActions: 1, Concurrency: 20})
			defer w.Stop()
			o := options(tc.blocks, tc.iterations, callParallel)
			o.MaxLoops = tc.loops
			worked := tc.iterations
			if tc.enough > 0 {
				o.IterationMode, worked = topicqueue.IterationFlexible, tc.enough-1
			}
			id := b.enqueue("How are the harbours of the coast kept, and what does it cost?", o, "")
			b.wait(id)
			if run := b.run(id); run.State != topicqueue.RunCompleted {
				t.Fatalf("state %s (%s)", run.State, run.Reason)
			}
			claims := 0
			for n := range tc.blocks {
				traces, err := b.services.Queue.Traces(t.Context(), id, topicqueue.BlockID(n+1))
				if err != nil {
					t.Fatal(err)
				}
				for _, trace := range traces {
					claims += len(trace.Claims)
				}
			}
			if want := tc.blocks * worked * yearbookClaims; claims != want {
				t.Errorf("%d claims, want %d: the questions are smaller than they should be", claims, want)
			}
			calls := m.all()
			if got := chain(calls); len(calls) != tc.calls || got != tc.chain || len(calls) > tc.most || got > tc.longest {
				t.Errorf("%d calls and a chain of %d, counted are %d and %d; at most %d and %d", len(calls), got, tc.calls, tc.chain, tc.most, tc.longest)
			}
			if got := atOnce(calls); got != callParallel && tc.blocks > 1 { // else blocks waited for each other, which chain does not see
				t.Errorf("%d calls at once, want %d", got, callParallel)
			}
			sum, schemas, answers, steps := 0, 0, 0, map[string][4]int{}
			for i, c := range calls {
				sum, schemas, answers = sum+c.chars, schemas+c.schema, answers+c.answer
				s := steps[c.step]
				steps[c.step] = [4]int{s[0] + 1, s[1] + c.chars, s[2] + c.answer, s[3] + repeated(c.text, calls[:i])}
			}
			t.Logf("%d calls, chain of %d, %d characters, and %d of schemas beside them; %d of answers", len(calls), chain(calls), sum, schemas, answers)
			for _, step := range slices.Sorted(maps.Keys(steps)) {
				t.Logf("  %-13s %3d calls %7d characters, of them %6d in repeated prefixes, answers %6d", step, steps[step][0], steps[step][1], steps[step][3], steps[step][2])
			}
			if tc.chars > 0 && sum > tc.chars {
				t.Errorf("%d characters of questions, at most %d are right", sum, tc.chars)
			}
			if tc.enough > 0 {
				return // an estimate has all iterations
			}
			est := forecast.Run(o, nil)
			if est.Calls != len(calls) || est.Most < est.Calls {
				t.Errorf("%d calls, the estimate is %d, at most %d", len(calls), est.Calls, est.Most)
			}
			guess, all := 0.0, 0.0
			for _, tokens := range est.Tokens {
				guess, all = guess+float64(tokens[0]), all+float64(tokens[0]+tokens[1])
			}
			stats, err := b.services.Queue.Stats(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen, again := forecast.Run(o, forecast.ExperienceOf(stats.Models, func(llm.Role) string { return "stub" })), 0.0
			for _, tokens := range seen.Tokens {
				again += float64(tokens[0] + tokens[1])
			}
			counted := m.stub.Stats()
			measured := float64(counted.PromptTokens + counted.CompletionTokens)
			t.Logf("  %.0f tokens, estimated %.0f (%.2f), with experience %.0f (%.2f)", measured, all, all/measured, again, again/measured)
			if all > mostOff*measured || measured > mostOff*all || again > mostOff*measured || measured > mostOff*again {
				t.Errorf("%.0f tokens, the estimate is %.0f, with experience %.0f", measured, all, again)
			}
			if ratio := 4 * guess / float64(sum+schemas); ratio < 0.95 || ratio > 1.05 {
				t.Errorf("the estimate of the questions is %.2f of what was counted", ratio)
			}
		})
	}
}

// repeated returns the length of the longest prefix that a question shares with an earlier call.
func repeated(question string, earlier []modelCall) (longest int) {
	for _, c := range earlier {
		n := 0
		for n < min(len(question), len(c.text)) && question[n] == c.text[n] {
			n++
		}
		longest = max(longest, n)
	}
	return longest
}

// mostOff is the maximum factor by which an estimate of a run's tokens may be wrong with this model.
const mostOff = 1.25

// modelCall is one call of the model.
type modelCall struct {
	step       string
	block      string // of researching
	begin, end time.Time
	chars      int
	text       string // the question
	schema     int    // characters of the answer's schema that is sent beside the question
	answer     int    // characters of it
}

// chain returns the length of the longest sequence of calls in which each began after the end of the one before.
// Parallel blocks do not wait for each other. A block that began after the end of another may have waited for its
// place.
func chain(calls []modelCall) int {
	first, last := map[string]time.Time{}, map[string]time.Time{}
	for _, c := range calls {
		if c.block == "" {
			continue
		}
		if f, ok := first[c.block]; !ok || c.begin.Before(f) {
			first[c.block] = c.begin
		}
		if c.end.After(last[c.block]) {
			last[c.block] = c.end
		}
	}
	waits := func(later, earlier modelCall) bool {
		if earlier.end.After(later.begin) {
			return false
		}
		beside := later.block != "" && earlier.block != "" && later.block != earlier.block
		return !beside || !last[earlier.block].After(first[later.block])
	}
	calls = slices.SortedFunc(slices.Values(calls), func(a, b modelCall) int { return a.begin.Compare(b.begin) })
	longest := make([]int, len(calls))
	for i, later := range calls {
		for j, earlier := range calls[:i] {
			if waits(later, earlier) {
				longest[i] = max(longest[i], longest[j])
			}
		}
		longest[i]++
	}
	return slices.Max(append(longest, 0))
}

// atOnce returns the maximum number of concurrent calls for blocks.
func atOnce(calls []modelCall) int {
	most := 0
	for _, c := range calls {
		n := 0
		for _, other := range calls {
			if c.block != "" && other.block != "" && !other.begin.After(c.begin) && other.end.After(c.begin) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// callLog is a model server that gives sensible answers and records every call. It answers calls that a run should make
// in parallel only when all of them have arrived. A busy machine therefore does not serialize them, and a run that
// makes them in sequence is slow and detected.
type callLog struct {
	stub   llmtest.Stub
	blocks int
	enough int // see TestCallsOfARun
	mu     sync.Mutex
	calls  []*modelCall
	groups map[string]*callGroup
}

// callGroup is a group of calls that should be made in parallel.
type callGroup struct {
	arrived int
	whole   chan struct{}
}

// gather waits until a group has this many calls, or a time limit.
func (m *callLog) gather(name string, size int) {
	if m.groups == nil {
		return
	}
	m.mu.Lock()
	g := m.groups[name]
	if g == nil {
		g = &callGroup{whole: make(chan struct{})}
		m.groups[name] = g
	}
	if g.arrived++; g.arrived == size {
		close(g.whole)
	}
	m.mu.Unlock()
	select {
	case <-g.whole:
	case <-time.After(10 * time.Second):
	}
}

func newCallLog(blocks int) *callLog {
	m := &callLog{blocks: blocks, groups: map[string]*callGroup{}}
	m.stub = llmtest.Stub{Answer: m.answer}
	return m
}

func (m *callLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	c := &modelCall{begin: time.Now()}
	m.calls = append(m.calls, c)
	r.Header.Set("Call", strconv.Itoa(len(m.calls)))
	m.mu.Unlock()
	var kept keptResponse
	m.stub.ServeHTTP(&kept, r)
	m.mu.Lock()
	c.end = time.Now() // before the client has the answer
	m.mu.Unlock()
	maps.Copy(w.Header(), kept.Header())
	w.WriteHeader(cmp.Or(kept.status, http.StatusOK))
	_, _ = w.Write(kept.body.Bytes())
}

// keptResponse delays an answer.
type keptResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *keptResponse) Header() http.Header {
	if k.header == nil {
		k.header = http.Header{}
	}
	return k.header
}
func (k *keptResponse) WriteHeader(status int)      { k.status = status }
func (k *keptResponse) Write(p []byte) (int, error) { return k.body.Write(p) }

func (m *callLog) all() []modelCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]modelCall, len(m.calls))
	for i, c := range m.calls {
		out[i] = *c
	}
	return out
}

var (
	harbours   = strings.Fields("Aberfoyle Birkwick Corvale Dunmere Eskmouth Fairhaven Glenport Holmstrand")
	callBlock  = regexp.MustCompile(`(?m)^Title: Upkeep of the harbour of (\w+)$`)
	callOwn    = regexp.MustCompile(`found for (block_\d+) with`)
	callRound  = regexp.MustCompile(`Iteration (\d+) of`)
	callRecord = regexp.MustCompile(`Record (\d+) gives a sum of (\d+) crowns for the harbour of (\w+) in month (\d+), paid by its town to the keeper of the harbour under rule (\d+), and no other payment\.`)
	callJudged = regexp.MustCompile(`(?m)^Sentence \d+: .*\(record (\d+) of the yearbook\)`)
)

// answer answers a question and records the length of the answer.
func (m *callLog) answer(q llmtest.Question) (string, bool) {
	text, ok := m.reply(q)
	n, _ := strconv.Atoi(q.Header.Get("Call"))
	m.mu.Lock()
	m.calls[n-1].answer = len([]rune(text))
	m.mu.Unlock()
	return text, ok
}

// reply gives 8 claims for each note, with quotes, and texts that cite every source they are given.
func (m *callLog) reply(q llmtest.Question) (string, bool) {
	step, _, _ := strings.Cut(q.Name, ".")
	if q.Schema == nil {
		step = "author"
	}
	block := ""
	if b := callBlock.FindStringSubmatch(q.User); b != nil && step == "decide" {
		block = b[1]
	}
	if own := callOwn.FindStringSubmatch(q.User); own != nil && step == "note" {
		if b := regexp.MustCompile(`(?m)^` + own[1] + `: Upkeep of the harbour of (\w+)$`).FindStringSubmatch(q.User); b != nil {
			block = b[1]
		}
	}
	n, _ := strconv.Atoi(q.Header.Get("Call"))
	m.mu.Lock()
	c := m.calls[n-1]
	c.step, c.block, c.text, c.schema = step, block, q.System+q.User, len(q.Schema)
	c.chars = len([]rune(c.text))
	m.mu.Unlock()
	type object = map[string]any
	var v object
	switch step {
	case "decompose":
		var topics []object
		for _, h := range harbours[:m.blocks] {
			topics = append(topics, object{"title": "Upkeep of the harbour of " + h, "queries": []string{"who keeps the harbour of " + h},
				"overview": "Find out how the harbour of " + h + " is kept, by whom, and what that costs in a year. Note the year and the source of each figure."})
		}
		v = object{"sub_topics": topics}
	case "decide":
		m.gather("decide", min(m.blocks, callParallel))
		round := callRound.FindStringSubmatch(q.User)[1]
		v = object{"reasoning": "The claims give some figures. Others are missing.", "is_sufficient": round == strconv.Itoa(m.enough), "new_sub_topics": []object{},
			"actions": []object{{"tool_type": "rag_hybrid", "query": "yearly cost of upkeep of the harbour of " + block + " in report " + round, "rationale": "a gap"}}}
		if round == "1" { // what a block without evidence has to ask first
			v["actions"] = []object{{"tool_type": "rag_hybrid", "query": "who keeps the harbour of " + block, "rationale": "a gap"}}
		}
	case "note":
		var claims []object
		for i, quote := range callRecord.FindAllString(q.User, -1) {
			if i%2 == 0 && len(claims) < yearbookClaims {
				claims = append(claims, object{"source": 1, "block": "", "quote": quote, "text": callRecord.ReplaceAllString(quote, "The town of $3 paid the keeper of its harbour $2 crowns in month $4 under rule $5, and nothing else (record $1 of the yearbook).")})
			}
		}
		v = object{"claims": claims}
	case "review":
		v = object{"draft": strings.Repeat("The harbours are kept by their towns. ", 25), "reasoning": "All is answered.", "gaps": []object{}}
	case "outline":
		var sections []object
		for i, h := range harbours[:m.blocks] {
			sections = append(sections, object{"title": "What " + h + " spends", "instruction": "Give the figures by month, and say who pays.", "block_ids": []string{topicqueue.BlockID(i + 1)}, "claims": []int{}, "subsections": []object{}})
		}
		v = object{"form": "overview", "computations": []object{}, "key_claims": []int{}, "title": "Keeping the harbours of the coast", "introduction": "Say what is compared.", "conclusion": "Say which costs most.", "sections": sections}
	case "judge":
		m.gather(step, m.blocks)
		findings := []object{}
		for i, record := range callJudged.FindAllStringSubmatch(q.User, -1) { // each sentence names its record
			span := regexp.MustCompile(`Record ` + record[1] + ` gives [^.]*\.`).FindString(q.User)
			places := []string{llmtest.PlaceOf(q.User, span)}
			findings = append(findings, object{"sentence": i + 1, "places": places, "sum": "", "wrong": "", "verdict": "supported", "text": ""})
		}
		v = object{"findings": findings}
	case "author":
		return partsOf(q.User, 8, 1), true
	default:
		return "", false
	}
	if bytes.Contains(q.Schema, []byte(`"think"`)) {
		v["think"] = ""
	}
	data, err := json.Marshal(v)
	return string(data), err == nil
}

// yearbookClaims is the number of claims noted from one answer of the yearbook.
const yearbookClaims = 8

// yearbook is a tool with different answers of 4,000 characters for every question.
type yearbook struct{}

// yearbooks gives every run a yearbook.
func yearbooks(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
	return jobs.Toolbox{Tools: tools.Set{yearbook{}}}, nil
}

func (yearbook) Name() string { return "rag_hybrid" }
func (yearbook) Description() string {
	return "Searches the knowledge base by words and meaning. Query: natural language."
}

func (yearbook) Call(_ context.Context, call tools.Call) (tools.Result, error) {
	const size = 4_000
	number, place := 0, "" // of the query, whose words the text has
	for _, c := range topicqueue.TextHash(call.Query)[:8] {
		number = (number*31 + int(c)) % 99_991
	}
	for _, h := range harbours {
		if strings.Contains(call.Query, h) {
			place = h
		}
	}
	var text strings.Builder
	for n := 1; text.Len() < size; n++ {
		fmt.Fprintf(&text, "Record %d gives a sum of %d crowns for the harbour of %s in month %d, paid by its town to the keeper of the harbour under rule %d, and no other payment. ",
			number+n, 1000+17*n*number%9000, place, n%12+1, number*3+n)
	}
	s := topicqueue.Source{Kind: topicqueue.SourceDocument, Title: "Yearbook of harbours", Document: "yearbook.md", Section: []string{"Accounts", "Payments of the towns"}, Text: text.String()[:size]}
	return tools.Result{Text: s.Text, Sources: []topicqueue.Source{s}}, nil
}

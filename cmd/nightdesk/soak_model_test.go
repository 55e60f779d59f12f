package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
)

// soakModel is a model server whose answers and latencies depend on the question alone. It remembers every call and
// which process made it: it is reached as an HTTP proxy, whose user is the process.
type soakModel struct {
	stub    llmtest.Stub
	slowest time.Duration // latencies are a quarter of it to all of it

	mu    sync.Mutex
	calls []*soakCall
	held  map[string]chan struct{} // by process: its blocks' first questions are not answered before this is closed
}

// hold keeps the topic blocks of a process, which is to start yet, in the middle of their first iteration until
// release.
func (m *soakModel) hold(process string) (release func()) {
	gate := make(chan struct{})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = map[string]chan struct{}{}
	}
	m.held[process] = gate
	return sync.OnceFunc(func() { close(gate) })
}

// soakCall is one request.
type soakCall struct {
	process  string
	hash     string // of the whole question
	topic    string // of the run
	step     string // name of the schema; empty for free text, which is asked for in parallel
	block    string // title of the topic block that decides or notes; empty for other calls
	held     <-chan struct{}
	from     time.Time
	to       time.Time // zero while it is open
	answered bool      // else the caller went away
	usage    soakUsage // as it has told the caller
}

// soakUsage is what a provider says of the tokens of a call.
type soakUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u soakUsage) tokens() int { return u.Prompt + u.Completion }

func newSoakModel(parts int, slowest time.Duration) *soakModel {
	answers := newFleetModel(parts)
	return &soakModel{stub: llmtest.Stub{Answer: answers.answer}, slowest: slowest}
}

func (m *soakModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var usage soakUsage
	c := m.begin(r.Header.Get("Proxy-Authorization"), body)
	if c.held != nil {
		select {
		case <-c.held:
		case <-r.Context().Done():
		}
	}
	select {
	case <-time.After(m.latency(body)):
		r.Body = io.NopCloser(bytes.NewReader(body))
		kept := keptAnswer{ResponseWriter: w}
		m.stub.ServeHTTP(&kept, r)
		usage = kept.usage()
	case <-r.Context().Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.to, c.answered, c.usage = time.Now(), r.Context().Err() == nil, usage
}

// keptAnswer keeps what it passes on.
type keptAnswer struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (k *keptAnswer) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

func (k *keptAnswer) usage() soakUsage {
	var a struct {
		Usage soakUsage `json:"usage"`
	}
	_ = json.Unmarshal(k.body.Bytes(), &a) // none, then
	return a.Usage
}

func (m *soakModel) latency(body []byte) time.Duration {
	sum := sha256.Sum256(body)
	return m.slowest/4 + m.slowest*3/4*time.Duration(sum[0])/255
}

func (m *soakModel) begin(credentials string, body []byte) *soakCall {
	var q struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		Format struct {
			Schema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	_ = json.Unmarshal(body, &q) // the stub refuses what is no question
	var text strings.Builder
	for _, message := range q.Messages {
		text.WriteString(message.Content + "\n")
	}
	sum := sha256.Sum256(body)
	user, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(credentials, "Basic "))
	process, _, _ := strings.Cut(string(user), ":")
	c := &soakCall{process: process, hash: hex.EncodeToString(sum[:]), step: q.Format.Schema.Name,
		topic: benchtest.HarbourOf(text.String()), from: time.Now()}
	if title := benchtest.BlockOf(text.String()); title != "" && (strings.HasPrefix(c.step, "decide") || strings.HasPrefix(c.step, "note")) {
		c.block = title
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.block != "" && strings.HasPrefix(c.step, "note") { // a block begins with its first queries, and decides after them
		c.held = m.held[process]
	}
	m.calls = append(m.calls, c)
	return c
}

// all returns a copy of the calls so far.
func (m *soakModel) all() []soakCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]soakCall, len(m.calls))
	for i, c := range m.calls {
		out[i] = *c
	}
	return out
}

// open returns how many calls of a process are open; of all processes for an empty name. blocks: only those of topic
// blocks.
func (m *soakModel) open(process string, blocks bool) int {
	n := 0
	for _, c := range m.all() {
		if c.to.IsZero() && (process == "" || c.process == process) && (c.block != "" || !blocks) {
			n++
		}
	}
	return n
}

// blocksIn returns how many topic blocks of a process wait for an answer; of a process that is held, how many are held.
func (m *soakModel) blocksIn(process string) int {
	m.mu.Lock()
	held := m.held[process]
	m.mu.Unlock()
	blocks := map[[2]string]bool{}
	for _, c := range m.all() {
		if open := c.to.IsZero() && c.process == process; open && c.block != "" && (held == nil || c.held != nil) {
			blocks[[2]string{c.topic, c.block}] = true
		}
	}
	return len(blocks)
}

// mostBlocks returns the largest number of topic blocks of one run that were in flight at once: from the first call
// of a block to the end of its last, whoever made them.
func mostBlocks(calls []soakCall) int {
	type edge struct {
		at    time.Time
		delta int
	}
	spans := map[[2]string]*span{}
	for _, c := range calls {
		if c.block == "" {
			continue
		}
		s := spans[[2]string{c.topic, c.block}]
		if s == nil {
			s = &span{from: c.from}
			spans[[2]string{c.topic, c.block}] = s
		}
		if c.to.After(s.to) {
			s.to = c.to
		}
	}
	edges := map[string][]edge{}
	for key, s := range spans {
		edges[key[0]] = append(edges[key[0]], edge{s.from, 1}, edge{s.to, -1})
	}
	most := 0
	for _, list := range edges {
		sort.Slice(list, func(i, j int) bool { return list[i].at.Before(list[j].at) })
		n := 0
		for _, e := range list {
			n += e.delta
			most = max(most, n)
		}
	}
	return most
}

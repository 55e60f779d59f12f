package benchtest

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"nightdesk/pipeline/llm/llmtest"
)

// server serves a model with a fixed latency and a web with a search engine on one port of this machine. The model
// limits concurrent calls and refuses further ones with status 429.
type server struct {
	url     string
	latency time.Duration
	cap     int // 0: no limit
	http    http.Server

	mu      sync.Mutex
	inside  int
	refused int
	calls   []*call
	asked   []string // answered questions, sorted
}

// call is one answered question.
type call struct {
	kind     string // schema name of the question; empty for free text
	block    string // title of the topic block, for decisions and notes
	from, to time.Time
	question string
	said     int // bytes of the answer
	repeated int // bytes of the longest prefix shared with an earlier question
}

// serve starts a server. The caller must close it.
func serve(latency time.Duration, limit int, model Model) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + listener.Addr().String(), latency: latency, cap: limit}
	stub := &llmtest.Stub{
		Intercept: s.refuse,
		Answer: func(q llmtest.Question) (string, bool) {
			c := s.begin(q)
			time.Sleep(latency)
			text, ok := model.Answer(q)
			s.end(c, text)
			return text, ok
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/search", found)
	mux.HandleFunc("/page/", page)
	mux.HandleFunc("/robots.txt", http.NotFound)
	mux.Handle("/", stub)
	s.http.Handler = mux
	go func() { _ = s.http.Serve(listener) }() // until close
	return s, nil
}

func (s *server) close() error { return s.http.Close() }

// refuse refuses a call that exceeds the limit.
func (s *server) refuse(w http.ResponseWriter, _ llmtest.Question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cap > 0 && s.inside >= s.cap {
		s.refused++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	s.inside++
	return false
}

func (s *server) begin(q llmtest.Question) *call {
	kind, _, _ := strings.Cut(q.Name, "_")
	c := &call{kind: kind, from: time.Now(), question: q.System + q.User}
	if kind == "decide" || kind == "note" {
		c.block = BlockOf(q.User)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := sort.SearchStrings(s.asked, c.question)
	for _, near := range s.asked[max(0, i-1):min(i+1, len(s.asked))] {
		c.repeated = max(c.repeated, prefix(near, c.question))
	}
	return c
}

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (s *server) end(c *call, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside--
	c.to, c.said = time.Now(), len(answer)
	s.calls = append(s.calls, c)
	i := sort.SearchStrings(s.asked, c.question)
	s.asked = slices.Insert(s.asked, i, c.question)
}

// traffic summarizes the calls that a server answered.
type traffic struct {
	calls, refused           int
	asked, said, repeated    int // bytes
	blockAsked, blockRepeats int // for decisions and notes
	again                    int // repeated calls
	chain                    int // dependent calls of one run
	first, last              time.Time
}

// sum summarizes the answered calls. chain is only meaningful for a single run.
func (s *server) sum() (t traffic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.calls, t.refused = len(s.calls), s.refused
	for i, c := range s.calls {
		t.asked, t.said, t.repeated = t.asked+len(c.question), t.said+c.said, t.repeated+c.repeated
		if c.block != "" {
			t.blockAsked, t.blockRepeats = t.blockAsked+len(c.question), t.blockRepeats+c.repeated
		}
		if i == 0 || c.from.Before(t.first) {
			t.first = c.from
		}
		if c.to.After(t.last) {
			t.last = c.to
		}
	}
	for i := 1; i < len(s.asked); i++ {
		if s.asked[i] == s.asked[i-1] {
			t.again++
		}
	}
	t.chain = chain(s.calls)
	return t
}

// chain counts the calls of a run that depend on one another: for each kind of call the sequential ones, plus those of
// the block with the most. Overlapping calls are independent.
func chain(calls []*call) int {
	kinds, blocks := map[string][]*call{}, map[string][]*call{}
	for _, c := range calls {
		if c.block == "" {
			kinds[c.kind] = append(kinds[c.kind], c)
		} else {
			blocks[c.block] = append(blocks[c.block], c)
		}
	}
	n, longest := 0, 0
	for _, list := range kinds {
		n += waves(list)
	}
	for _, list := range blocks {
		longest = max(longest, waves(list))
	}
	return n + longest
}

// waves returns the maximum number of calls that do not overlap.
func waves(calls []*call) (n int) {
	slices.SortFunc(calls, func(a, b *call) int { return cmp.Compare(a.to.UnixNano(), b.to.UnixNano()) })
	var end time.Time
	for _, c := range calls {
		if !c.from.Before(end) {
			n, end = n+1, c.to
		}
	}
	return n
}

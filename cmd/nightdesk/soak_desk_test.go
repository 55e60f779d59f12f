package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// soak is a fleet on a Redis that keeps its data, with a soakModel, whose processes have names and whose logs are read.
type soak struct {
	*fleet
	redis *redistest.Process
	store storage.Store // of the desk
	model *soakModel
	proxy string // host:port of the model server

	mu     sync.Mutex
	logs   []logLine
	deaths []death
}

// logLine is one message of a process.
type logLine struct {
	at      time.Time // of its arrival
	process string
	Level   string `json:"level"`
	Message string `json:"message"`
	Run     string `json:"run"`
	Unit    string `json:"unit"`
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`
}

// death is the end of a process by -9, or of Redis, or the time that a process is frozen.
type death struct {
	process   string    // empty: Redis
	at, until time.Time // until is zero for one that is for ever
}

// process is one run of a worker.
type process struct {
	*exec.Cmd
	name string
	read chan struct{} // closed when its log has been read to the end
}

// withoutPrograms: a process that is kept from seeing others can make no sandbox, and its models would know fewer
// tools.
const withoutPrograms = "NIGHTDESK_RESEARCHING_ENABLE_RUN_CODE=false"

// shortLease lets a worker's work be taken over soon after it was killed.
var shortLease = "TEST_LEASE=" + scaletest.Of("4s", "20s")

// soakParts is how many topic blocks a run of a soak has.
const soakParts = 3

func newSoak(t *testing.T, env ...string) *soak {
	t.Helper()
	s := &soak{model: newSoakModel(soakParts, 200*time.Millisecond)}
	s.redis = redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction")
	server := httptest.NewServer(s.model)
	t.Cleanup(server.Close)
	s.proxy = strings.TrimPrefix(server.URL, "http://")
	s.fleet = newDeskAt(t, "redis://"+s.redis.Addr(), append([]string{
		"LLM_MODEL=stub", "LLM_BASE_URL=http://model.test/v1", "NO_PROXY=", "no_proxy=", "http_proxy=", "NIGHTDESK_PRESET=medium",
		"LLM_CONTEXT_TOKENS=16384", // of which the documents take more than a quarter, so that blocks search
		"NIGHTDESK_PLANNING_DECOMPOSE_INITIAL_SUBTOPICS=" + fmt.Sprint(soakParts), "NIGHTDESK_RESEARCHING_MAX_ITERATIONS=2",
		"NIGHTDESK_RESEARCHING_EXECUTION_MODE=series", withoutPrograms, shortLease}, env...)...)
	s.store = storage.NewDir(filepath.Join(s.dir, "nightdesk-data"))
	return s
}

// start starts a worker under a name that no process had before.
func (s *soak) start(name string, slots int) *process {
	s.t.Helper()
	return s.startAs(s.command("worker", "--concurrency", fmt.Sprint(slots)), name)
}

func (s *soak) startAs(worker *exec.Cmd, name string) *process {
	s.t.Helper()
	p := &process{Cmd: worker, name: name, read: make(chan struct{})}
	p.Env = append(p.Env[:len(p.Env):len(p.Env)], "HTTP_PROXY=http://"+name+"@"+s.proxy, "NIGHTDESK_LOG_LEVEL=info")
	pipe, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	p.Stderr = w
	proctest.Tie(p.Cmd)
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.Close()
	s.t.Cleanup(func() { p.Process.Kill() })
	go s.readLog(p, pipe)
	return p
}

func (s *soak) readLog(p *process, pipe *os.File) {
	defer close(p.read)
	defer pipe.Close()
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l := logLine{at: time.Now(), process: p.name}
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			l.Level, l.Message = "error", lines.Text()
		}
		s.mu.Lock()
		s.logs = append(s.logs, l)
		s.mu.Unlock()
	}
}

// logged returns the lines with this message so far; all for an empty one.
func (s *soak) logged(message string) []logLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []logLine
	for _, l := range s.logs {
		if message == "" || l.Message == message {
			out = append(out, l)
		}
	}
	return out
}

// kill ends a worker with -9.
func (s *soak) kill(p *process) {
	s.t.Helper()
	if err := p.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = p.Wait() // it was killed
	s.deaths = append(s.deaths, death{process: p.name, at: time.Now()})
}

// restart ends Redis by a signal and starts it again after a pause.
func (s *soak) restart(signal syscall.Signal, pause time.Duration) {
	s.redis.End(signal)
	s.deaths = append(s.deaths, death{at: time.Now()})
	time.Sleep(pause)
	s.redis.Begin()
}

// end stops a worker in order and waits for the rest of its log.
func (s *soak) end(p *process) {
	s.t.Helper()
	s.stop(p.Cmd)
	<-p.read
}

// bundles returns how many runs have a whole bundle in storage.
func (s *soak) bundles() int {
	files, _ := filepath.Glob(filepath.Join(s.dir, "nightdesk-data", "cache", "*", "manifest.json"))
	return len(files)
}

// warnings returns how often each message above info was logged, by its beginning: asynq puts everything into one.
func (s *soak) warnings() map[string]int {
	out := map[string]int{}
	for _, l := range s.logged("") {
		if l.Level != "info" && l.Level != "debug" {
			message, _, _ := strings.Cut(l.Message, ":")
			message, _, _ = strings.Cut(message, "[")
			message, _, _ = strings.Cut(message, "\"")
			out[strings.TrimSpace(message)]++
		}
	}
	return out
}

package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// served is a running `nightdesk serve`.
type served struct {
	t   *testing.T
	url string // ends in a slash
}

func (f *fleet) serve() served {
	f.t.Helper()
	cmd := f.command("serve", "--listen", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.t.Fatalf("serve says nothing: %v", err)
	}
	f.t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			f.t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			f.t.Errorf("serve: %v", err)
		}
	})
	return served{f.t, strings.TrimSpace(line)}
}

// get returns the body of a page, which must answer with this status.
func (s served) get(path string, status int) string {
	s.t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		s.t.Errorf("/%s: %s, %v, want %d\n%s", path, r.Status, err, status, body)
	}
	if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") {
		s.t.Errorf("/%s may load from elsewhere: %q", path, csp)
	}
	return string(body)
}

func (s served) checkPages() {
	s.t.Helper()
	for path, want := range map[string][]string{
		"": {`href="monitoring/"`, `href="manual/"`, `href="metrics"`, `href="healthz"`,
			"3 topics: 3 queued"},
		"batches":               {`<a href="batches/fleet">fleet</a>`},
		"batches/fleet":         {"<tr data-line>", "How does the harbour inspect"},
		"health":                {"<dt>redis</dt>", "<dt>workers</dt>", `class="failed"`, "<dt>storage</dt>", "<dt>queue</dt>"},
		"healthz":               {`{"status":"ok","redis":"ok","storage":"ok","troubles":[`, `"check":"workers","result":"failed"`},
		"monitoring/":           {`window.FLAG_READ_ONLY="true"`},
		"monitoring/api/queues": {`"queue":"planning"`, `"pending":3`},
		"monitoring/api/queues/planning/pending_tasks": {"How does the harbour inspect"},
		"metrics": {"nightdesk_redis_up 1", "nightdesk_runs_watched 3", `nightdesk_queue_tasks{lane="normal",stage="planning",state="pending"} 3`,
			"nightdesk_worker_processes 0"},
	} {
		body := s.get(path, http.StatusOK)
		for _, w := range want {
			if !strings.Contains(body, w) {
				s.t.Errorf("/%s has no %s:\n%.2000s", path, w, body)
			}
		}
		if strings.Contains(body, "canary") {
			s.t.Errorf("/%s shows the password of Redis", path)
		}
	}
	if body := s.get("readyz", http.StatusServiceUnavailable); !strings.Contains(body, `"check":"workers"`) {
		s.t.Errorf("/readyz does not say that no worker is running: %s", body)
	}
}

// TestServe looks at all pages, tries to change something, and takes Redis away.
func TestServe(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "yes", "--requirepass", "canary")
	f := newDeskAt(t, "redis://:canary@"+server.Addr())
	f.enqueueParts(3)
	s := f.serve()
	s.checkPages()
	s.get("nothing", http.StatusNotFound)
	if body := s.get("monitoring/api/redis_info", http.StatusOK); strings.Contains(body, "canary") {
		t.Error("asynqmon shows the password of Redis")
	}
	for path, method := range map[string]string{"queues/planning:pause": "POST", "queues/planning": "DELETE", "queues/planning/pending_tasks:delete_all": "DELETE"} {
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+"monitoring/api/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %s", method, path, r.Status)
		}
	}

	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/")
	if out := f.fails(2, "serve", "--listen", host); !strings.Contains(out, syscall.EADDRINUSE.Error()) {
		t.Errorf("port in use: %s", out)
	}
	if out := f.fails(2, "serve", "--listen", "everywhere"); !strings.Contains(out, "host:port") {
		t.Errorf("no address: %s", out)
	}

	server.End(syscall.SIGKILL)
	until(t, "a failing health check", func() bool {
		r, err := http.Get(s.url + "healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var a struct{ Status, Redis, Storage string }
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		return r.StatusCode == http.StatusServiceUnavailable && a.Status == "failing" && a.Redis != "ok" && a.Storage == "ok"
	})
	if body := s.get("metrics", http.StatusOK); !strings.Contains(body, "nightdesk_redis_up 0") {
		t.Errorf("metrics without Redis:\n%s", body)
	}
	server.Begin()
	until(t, "health", func() bool {
		r, err := http.Get(s.url + "healthz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	})
	s.checkPages()
}

// TestServe_OnTheLocalRedis serves the queue of the data directory while another process keeps it.
func TestServe_OnTheLocalRedis(t *testing.T) {
	t.Parallel()
	f := newDeskAt(t, "")
	if out := f.fails(2, "serve"); !strings.Contains(out, "REDIS_URL") {
		t.Errorf("without a queue: %s", out)
	}
	r, err := localredis.Open(t.Context(), filepath.Join(f.dir, "nightdesk-data"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.InProcess {
		t.Skip("redis-server is not on PATH")
	}
	f.enqueueParts(3)
	f.serve().checkPages()
}

// TestServe_OpenToTheNetwork: who opens the port to others must set a token, which every page then asks for.
func TestServe_OpenToTheNetwork(t *testing.T) {
	t.Parallel()
	f := newDeskAt(t, "redis-socket://"+redistest.Socket(t))
	if out := f.fails(2, "serve", "--listen", ":0"); !strings.Contains(out, "NIGHTDESK_SERVE_TOKEN") {
		t.Errorf("without a token: %s", out)
	}
	const token = "canary-of-the-token"
	cmd := f.command("serve", "--log-level", "debug", "--listen", ":0", "--json")
	cmd.Env = append(cmd.Env, "NIGHTDESK_SERVE_TOKEN="+token)
	log, err := os.Create(filepath.Join(f.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	port := regexp.MustCompile(`^\{"url":"http://\[::\]:(\d+)/"\}\n$`).FindStringSubmatch(line)
	if port == nil {
		t.Fatalf("standard output: %q", line)
	}
	for path, want := range map[string]int{"metrics": http.StatusUnauthorized, "batches": http.StatusUnauthorized,
		"healthz": http.StatusOK} {
		r, err := http.Get("http://127.0.0.1:" + port[1] + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("/%s without the token: %s", path, r.Status)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(log.Name()); err != nil || strings.Contains(string(text), token) {
		t.Errorf("the log has the token: %s, %v", text, err)
	}
}

// TestServe_CountsModels: what the model server was asked is what the metrics say.
func TestServe_CountsModels(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 0)
	f.enqueue(2, "--preset", "quick")
	w := f.worker(4)
	f.checkReports(2, f.wait(2))
	f.stop(w)
	body := f.serve().get("metrics", http.StatusOK)
	counted := 0
	for _, m := range regexp.MustCompile(`(?m)^nightdesk_model_calls_total\{model="stub",role="[a-z]+"\} (\d+)$`).FindAllStringSubmatch(body, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		counted += n
	}
	if _, calls := f.model.most(); counted == 0 || counted != calls {
		t.Errorf("%d calls are counted, %d were made:\n%s", counted, calls, body)
	}
	for _, want := range []string{`nightdesk_runs_ended_total{state="completed"} 2`, `nightdesk_model_tokens_total{direction="in",model="stub",role="writer"} `} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s:\n%s", want, body)
		}
	}
}

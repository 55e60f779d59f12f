package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// logged is a service whose log is read.
type logged struct {
	name string
	cmd  *exec.Cmd
	mu   sync.Mutex
	log  bytes.Buffer
}

// Write takes in what the service logs.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// says waits until the log has a text.
func (l *logged) says(t *testing.T, text string) {
	t.Helper()
	until(t, l.name+": "+text, func() bool { return strings.Contains(l.text(), text) })
}

// service starts a command that runs until it is stopped, with its log at level info.
func (f *fleet) service(name string, args ...string) *logged {
	f.t.Helper()
	l := &logged{name: name, cmd: f.command(append([]string{name, "--log-level", "info"}, args...)...)}
	l.cmd.Stderr = l
	if err := l.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { l.cmd.Process.Kill() })
	return l
}

// gate is an S3 server that can be away.
func gate(t *testing.T, behind storage.S3Settings) (front string, away *atomic.Bool) {
	t.Helper()
	target, err := url.Parse(behind.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	away = &atomic.Bool{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, away
}

// TestServicesWait starts worker, scheduler and pages while Redis and the storage are away: they say so, wait, and
// work.
func TestServicesWait(t *testing.T) {
	t.Parallel()
	bucket := storagetest.FakeS3(t)
	front, away := gate(t, bucket)
	server := redistest.Start(t, "--save", "", "--appendonly", "no", "--port", "PORT")
	f := newDeskAt(t, "redis://"+server.Addr(), "STORAGE_URL=s3://"+bucket.Bucket+"/waits", "AWS_ENDPOINT_URL_S3="+front,
		"AWS_ACCESS_KEY_ID="+bucket.AccessKey, "AWS_SECRET_ACCESS_KEY="+bucket.SecretKey)
	server.End(syscall.SIGKILL)
	away.Store(true)

	pages := f.serve() // it listens before anything else is there
	worker, scheduler := f.service("worker"), f.service("scheduler")
	services := []*logged{worker, scheduler}
	for _, s := range services {
		s.says(t, "waiting for Redis: the Redis at redis://"+server.Addr()+" does not answer")
	}
	if body := pages.get("healthz", http.StatusServiceUnavailable); !strings.Contains(body, syscall.ECONNREFUSED.Error()) || !strings.Contains(body, "503") {
		t.Errorf("healthz without Redis and storage: %s", body)
	}
	server.Begin()
	for _, s := range services {
		s.says(t, "Redis can be used now")
		s.says(t, "waiting for the storage: ")
	}
	away.Store(false)
	worker.says(t, "worker started")
	scheduler.says(t, "scheduler started")
	until(t, "healthz", func() bool {
		r, err := http.Get(pages.url + "healthz")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	})

	for _, s := range services {
		until(t, s.name+" in good health", func() bool { return f.command("health", s.name).Run() == nil })
	}

	f.enqueueParts(1, "--preset", "quick")
	worker.says(t, `"kind":"run:publish"`)
	f.wait(1)
	worker.says(t, `"state":"`)
	for _, s := range services {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		checkLog(t, s)
		if out, err := f.command("health", s.name).CombinedOutput(); err == nil || !strings.Contains(string(out), "no "+s.name+" of host") {
			t.Errorf("health of a %s that has stopped: %v, %s", s.name, err, out)
		}
	}
}

// checkLog checks that all lines of a log have one format and name their process, and that the lines of a run's begin
// and end name its topic and batch.
func checkLog(t *testing.T, s *logged) {
	t.Helper()
	named := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(s.text())); ; {
		var line map[string]any
		if err := dec.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s logs what is not JSON: %v\n%s", s.name, err, s.text())
		}
		if line["host"] == nil || line[s.name] == nil {
			t.Errorf("%s: a line without host and process: %v", s.name, line)
		}
		topic, _ := line["topic"].(string)
		if line["batch"] == "fleet" && strings.Contains(topic, "harbour") {
			kind, _ := line["kind"].(string)
			message, _ := line["message"].(string)
			named[kind+" "+message] = true
		}
	}
	if s.name == "worker" && (!named["run:plan attempt started"] || !named["run:publish attempt ended"]) {
		t.Errorf("topic and batch are named by %v", named)
	}
}

// TestServicesEnd checks that wrong credentials and names end a service at once: waiting would not help.
func TestServicesEnd(t *testing.T) {
	t.Parallel()
	bucket := storagetest.FakeS3(t)
	server := redistest.Start(t, "--save", "", "--appendonly", "no", "--port", "PORT", "--requirepass", "canary")
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	good := "redis://:canary@" + server.Addr()
	for name, tc := range map[string]struct {
		env  []string
		want string
	}{
		"password":   {[]string{"REDIS_URL=redis://:wrong@" + server.Addr()}, "Correct user and password"},
		"database":   {[]string{"REDIS_URL=" + good + "/99"}, "DB index is out of range"},
		"web server": {[]string{"REDIS_URL=redis://" + strings.TrimPrefix(web.URL, "http://")}, "HTTP/1.1 400"},
		"bucket": {[]string{"REDIS_URL=" + good, "STORAGE_URL=s3://no-such-bucket", "AWS_ENDPOINT_URL_S3=" + bucket.Endpoint,
			"AWS_ACCESS_KEY_ID=" + bucket.AccessKey, "AWS_SECRET_ACCESS_KEY=" + bucket.SecretKey}, "NoSuchBucket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newDeskAt(t, good, tc.env...)
			for _, service := range [][]string{{"worker"}, {"scheduler"}, {"serve", "--listen", "127.0.0.1:0"}} {
				l := f.service(service[0], service[1:]...)
				ended := make(chan error, 1)
				go func() { ended <- l.cmd.Wait() }()
				select {
				case err := <-ended:
					if err == nil || !strings.Contains(l.text(), tc.want) || strings.Contains(l.text(), "canary") {
						t.Errorf("%s ended with %v, want %q:\n%s", l.name, err, tc.want, l.text())
					}
				case <-time.After(time.Minute):
					t.Errorf("%s goes on:\n%s", l.name, l.text())
				}
			}
		})
	}
}

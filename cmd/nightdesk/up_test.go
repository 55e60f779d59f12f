package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestUp: one process takes topics through its API, researches them, lets them be searched, and ends in order; with a
// redis-server of its own, and without one on this machine.
func TestUp(t *testing.T) {
	t.Parallel()
	t.Run("with redis-server", func(t *testing.T) {
		t.Parallel()
		testUp(t, newDeskAt(t, ""))
	})
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		f := newDeskAt(t, "")
		f.env = append(f.env, "PATH="+t.TempDir())
		testUp(t, f)
	})
}

// up runs `nightdesk up` until the end of the test.
func (f *fleet) up() served {
	f.t.Helper()
	cmd := f.command("up", "--listen", "127.0.0.1:0")
	log, err := os.Create(filepath.Join(f.dir, "up.log"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			f.t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			f.t.Errorf("up: %v", err)
		}
		if f.t.Failed() {
			text, _ := os.ReadFile(log.Name())
			f.t.Logf("%s", text)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.t.Fatalf("up says nothing: %v", err)
	}
	return served{f.t, strings.TrimSpace(line)}
}

func testUp(t *testing.T, f *fleet) {
	f.t = t
	s := f.up()
	order := `{"topics":[{"topic":"How does the harbour inspect ships?"}],"kb":"docs","preset":"quick"}`
	for _, created := range []int{1, 0} { // the second one is the first again
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"v1/batches", strings.NewReader(order))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "one")
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		var done struct{ Created int }
		if err != nil || json.Unmarshal(text, &done) != nil || r.StatusCode != 200 || done.Created != created {
			t.Fatalf("%s, %v: %s", r.Status, err, text)
		}
	}
	s.draft("How loud are the cranes of the harbour?\nHow loud are the cranes of the harbour?\n")
	until(t, "the report", func() bool {
		body := s.get("v1/runs", http.StatusOK)
		return strings.Contains(body, `"state":"completed"`) && strings.Contains(body, `"report_key":"reports/`)
	})
	until(t, "the report in the search", func() bool {
		return strings.Contains(s.get("v1/search?q=harbour", http.StatusOK), `"total":2`)
	})
	s.get("readyz", http.StatusOK)
}

// draft checks a list of one topic on the page of new research and enqueues it, twice: the second time adds nothing.
func (s served) draft(list string) {
	s.t.Helper()
	form := func(values url.Values) string {
		body := strings.NewReader(values.Encode())
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"new", body)
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			s.t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			s.t.Fatalf("%s, %v: %s", r.Status, err, text)
		}
		return string(text)
	}
	values := url.Values{"list": {list}, "kb": {"docs"}, "preset": {"quick"}, "do": {"check"}}
	body := form(values)
	batch := regexp.MustCompile(`name="batch" value="(page_[a-z0-9_]+)"`).FindStringSubmatch(body)
	for _, want := range []string{"1 quick", "line 2", `value="enqueue"`} {
		if !strings.Contains(body, want) || batch == nil {
			s.t.Fatalf("no %q in %s", want, body)
		}
	}
	if strings.Contains(body, "nightdesk: ") || strings.Contains(body, "dry-run") {
		s.t.Errorf("%s", body)
	}
	values.Set("batch", batch[1])
	values.Set("do", "enqueue")
	values.Set("format", "auto")
	values.Set("seen", regexp.MustCompile(`name="seen" value="([0-9a-f]+)"`).FindStringSubmatch(form(values))[1])
	for range 2 { // sent twice, it is enqueued once
		if body := form(values); !strings.Contains(body, "./batches/"+batch[1]) {
			s.t.Errorf("not enqueued: %s", body)
		}
	}
	var made struct{ Runs int }
	if err := json.Unmarshal([]byte(s.get("v1/batches/"+batch[1], http.StatusOK)), &made); err != nil || made.Runs != 1 {
		s.t.Errorf("%d runs, %v", made.Runs, err)
	}
	values.Set("list", "Another topic that nobody has seen a check of")
	if body := form(values); !strings.Contains(body, `value="enqueue"`) {
		s.t.Errorf("a list that was changed after its check: %s", body)
	}
	values.Set("list", `{"topic":"x","preset":"<b>"}`)
	if body := form(values); !strings.Contains(body, "line 1: preset &#34;&lt;b&gt;&#34;") || strings.Contains(body, `value="enqueue"`) {
		s.t.Errorf("%s", body)
	}
	values.Set("list", `{"topic":"x","report_template":"/etc/passwd"}`+"\n"+`{"topic":"y","plan":"/etc/passwd"}`)
	if body := form(values); !strings.Contains(body, "line 1: ") || !strings.Contains(body, "line 2: ") || strings.Contains(body, "root:") {
		s.t.Errorf("a page reads files of the server: %s", body)
	}
	values.Set("list", " ")
	if body := form(values); strings.Contains(body, `value="enqueue"`) || !strings.Contains(body, `class="failed"`) {
		s.t.Errorf("%s", body)
	}
	values.Set("list", "x")
	values.Set("kb", "nothing of the kind")
	if body := form(values); !strings.Contains(body, "nothing of the kind") || strings.Contains(body, "enqueued</h1>") {
		s.t.Errorf("%s", body)
	}
}

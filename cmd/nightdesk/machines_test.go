package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue/scaletest"
)

// machine is a directory in which a worker has all that a machine has of its own: home, working directory, temporary
// files, data directory. Where the system lets a test do so, its processes see no other machine's.
type machine struct {
	name, dir string
	hides     bool // other machines' directories from its processes
	worker    *process
	workers   int // so far
}

// newMachines returns a desk whose processes have Redis and a bucket in common, and that many machines besides the
// one that enqueues.
func newMachines(t *testing.T, n int) (*soak, []*machine) {
	t.Helper()
	bucket := storagetest.Versitygw(t)
	s := newSoak(t, "STORAGE_URL=s3://"+bucket.Bucket+"/desk", "AWS_ENDPOINT_URL_S3="+bucket.Endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+bucket.AccessKey, "AWS_SECRET_ACCESS_KEY="+bucket.SecretKey)
	bucket.Prefix = "desk"
	store, err := storage.NewS3(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	s.store = store
	var machines []*machine
	for i := range n {
		m := &machine{name: fmt.Sprintf("machine%d", i+1)}
		m.dir = filepath.Join(filepath.Dir(s.dir), m.name)
		if err := os.MkdirAll(filepath.Join(m.dir, "tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		program, err := os.Readlink(s.program)
		if err == nil {
			err = os.Symlink(program, filepath.Join(m.dir, "nightdesk"))
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.hides = alone(m.dir); !m.hides {
			t.Log("this system hides no directories from a process: a shared disk would go unseen")
		}
		machines = append(machines, m)
	}
	return s, machines
}

// startWorker starts a worker on a machine.
func (s *soak) startWorker(m *machine, slots int) {
	s.t.Helper()
	m.workers++
	cmd := exec.Command("./nightdesk", "worker", "--concurrency", fmt.Sprint(slots))
	cmd.Dir = m.dir
	cmd.Env = append(s.env[:len(s.env):len(s.env)], "HOME="+m.dir, "TMPDIR="+filepath.Join(m.dir, "tmp"))
	if m.hides {
		hideOthers(cmd, m.dir)
	}
	m.worker = s.startAs(cmd, fmt.Sprintf("%s.%d", m.name, m.workers))
}

// alone tries whether a process can be kept from seeing what lies beside its directory.
func alone(dir string) bool {
	cmd := exec.Command("sh", "-c", `test "$(ls .. | wc -l)" = 1`)
	cmd.Dir = dir
	hideOthers(cmd, dir)
	return cmd.Run() == nil
}

// TestRollingRestart works topics on three machines that have nothing but Redis and a bucket in common, and replaces
// the worker of each in the middle of it, one after the other. What comes of it is what one undisturbed worker makes
// of the topics, no model call is made twice, and what is on the machines is of no consequence.
func TestRollingRestart(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	topics, slots := scaletest.Of(9, 24), 2
	s, machines := newMachines(t, 3)
	want, questions := undisturbed(t, topics)
	s.enqueue(topics)
	for _, m := range machines {
		s.startWorker(m, slots)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("warnings: %v", s.warnings())
		}
	})
	var longest time.Duration
	for _, m := range machines {
		s.inBlocks(m.worker, 1)
		asked := time.Now()
		s.end(m.worker)
		longest = max(longest, time.Since(asked))
		s.startWorker(m, slots)
		until(t, "calls of the new worker of "+m.name, func() bool { return s.model.open(m.worker.name, false) > 0 })
	}
	states := s.wait(topics)
	if states["completed"] != topics {
		t.Errorf("states %v, want %d completed", states, topics)
	}
	for _, m := range machines {
		s.end(m.worker)
	}
	runs := s.runs()
	checkSameRuns(t, runs, want)
	again, _ := s.checkCalls(questions, runs)
	if again.all() > 0 {
		t.Errorf("%d calls were made again", again.all())
	}
	if n := len(s.logged("attempt yielded to another worker")); n == 0 {
		t.Error("nothing was handed on: the test shows nothing")
	}
	calls := map[string]int{}
	for _, c := range s.model.all() {
		calls[c.process]++
	}
	for _, m := range machines {
		if bases, err := filepath.Glob(filepath.Join(m.dir, "nightdesk-data", "knowledge", "*.sqlite")); err != nil || len(bases) != 1 {
			t.Errorf("%s has fetched %q, %v, want one knowledge base", m.name, bases, err)
		}
		for _, of := range []string{"reports", "cache", "batches"} {
			if _, err := os.Stat(filepath.Join(m.dir, "nightdesk-data", of)); err == nil {
				t.Errorf("%s has %s of its own", m.name, of)
			}
		}
	}
	t.Logf("%d topics on %d machines; a worker ended at most %s after SIGTERM; units handed on: %d; calls by worker: %v; warnings: %s",
		topics, len(machines), longest.Round(10*time.Millisecond), len(s.logged("attempt yielded to another worker")), calls, strings.TrimPrefix(fmt.Sprint(s.warnings()), "map"))
}

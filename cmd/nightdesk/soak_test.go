package main_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/topicqueue/scaletest"
)

var (
	soakTopics = flag.Int("soak.topics", scaletest.Of(5, 10), "topics of TestSoak")
	soakKills  = flag.Int("soak.kills", 0, "workers that it kills, at most; 0: one for five topics")
	soakEvery  = flag.Duration("soak.every", 0, "mean time between two kills; 0: 1s, with 50 topics and more 4s")
	soakSlots  = flag.Int("soak.slots", 2, "slots of a worker")
)

// TestSoak works topics with three worker processes, of which it kills one with -9 every few seconds, while it
// restarts Redis, once in order and once with -9. What comes of it must be what an undisturbed worker makes of the
// same topics, and no model call is made again but those that were in flight in a worker that was killed. With -v it
// prints the figures.
func TestSoak(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	topics, every, restarts := *soakTopics, *soakEvery, 1
	kills, slots := cmp.Or(*soakKills, max(2, topics/5)), *soakSlots
	if topics >= 50 {
		every, restarts = cmp.Or(every, 4*time.Second), 2
	}
	every = cmp.Or(every, time.Second)

	started := time.Now()
	want, questions := undisturbed(t, topics)
	calmTook := time.Since(started)
	s := newSoak(t)
	s.enqueue(topics)
	started = time.Now()
	var workers []*process
	for i := range 3 {
		workers = append(workers, s.start(fmt.Sprintf("worker%d.0", i+1), slots))
	}
	killed, restarted := 0, 0
	isDue := func() bool { return restarted < restarts && s.bundles() >= topics*(restarted+1)/(restarts+2) }
	pause := func(until time.Duration) { // or until a restart is due, or all is done
		for end := time.Now().Add(until); time.Now().Before(end) && s.bundles() < topics && !isDue(); {
			time.Sleep(20 * time.Millisecond) // other programs are watched
		}
	}
	until(t, "the first topic block", func() bool { return s.model.open("", true) > 0 })
	for s.bundles() < topics && time.Since(started) < 9*time.Minute {
		if isDue() {
			s.restart([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[restarted%2], 0)
			restarted++
		}
		pause(every/2 + rand.N(every))
		if killed < kills && s.bundles() < topics {
			i := rand.IntN(len(workers))
			s.kill(workers[i])
			killed++
			workers[i] = s.start(fmt.Sprintf("worker%d.%d", i+1, killed), slots)
		}
	}
	states := s.wait(topics)
	took := time.Since(started)
	s.forgotten()
	left := s.tasks()
	for _, w := range workers {
		s.end(w)
	}

	s.checkReports(topics, states)
	runs := s.runs()
	checkSameRuns(t, runs, want)
	again, inFlight := s.checkCalls(questions, runs)
	if most := mostBlocks(s.model.all()); most > 1 {
		t.Errorf("%d blocks of one run in flight, in series", most)
	}
	s.checkKeys(topics)
	if killed == 0 || restarted == 0 {
		t.Errorf("%d kills and %d restarts: the test shows nothing", killed, restarted)
	}
	t.Logf("%d topics in %s, undisturbed in %s; %d kills with %d calls in flight, %d restarts of Redis; %d model calls, %d of them repeated (%d were open at a kill, %d answered at most %s before one and perhaps not recorded, %d before one of Redis); %d unfinished files left in storage",
		topics, took.Round(100*time.Millisecond), calmTook.Round(100*time.Millisecond), killed, inFlight, restarted, len(s.model.all()), again.all(), again.open, again.late, again.lateBy.Round(time.Millisecond), again.redis, s.leftFiles())
	t.Logf("tasks left in the job queue: %v; warnings: %v", left, s.warnings())
}

// leftFiles returns how many files in storage belong to no artefact: a writer was killed before it could name them.
func (s *soak) leftFiles() int {
	n := 0
	_ = filepath.WalkDir(filepath.Join(s.dir, "nightdesk-data"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasPrefix(e.Name(), ".tmp-") {
			n++
		}
		return nil
	})
	return n
}

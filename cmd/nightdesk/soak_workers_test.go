package main_test

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

var (
	soakFreeze = flag.Duration("soak.freeze", 0, "how long TestFrozenWorker stops a worker, at least; it waits until its work was taken over in any case")
	soakAway   = flag.Duration("soak.away", scaletest.Of(3*time.Second, 7*time.Second), "how long Redis is away in TestRedisAway")
)

// calmTopics is how many topics are worked undisturbed for all tests that disturb as many or fewer of them.
const calmTopics = 16

// calmWork is what one undisturbed worker makes of topics.
type calmWork struct {
	once      sync.Once
	runs      map[string]soakRun
	questions map[string]map[string]int // by topic
}

// calmRuns are those that were worked, by the number of their topics.
var calmRuns struct {
	sync.Mutex
	of map[int]*calmWork
}

// undisturbed returns what one undisturbed worker makes of so many topics, and how often each question was asked.
func undisturbed(t *testing.T, topics int) (runs map[string]soakRun, questions map[string]int) {
	t.Helper()
	size := max(topics, calmTopics)
	calmRuns.Lock()
	if calmRuns.of == nil {
		calmRuns.of = map[int]*calmWork{}
	}
	if calmRuns.of[size] == nil {
		calmRuns.of[size] = &calmWork{}
	}
	w := calmRuns.of[size]
	calmRuns.Unlock()
	w.once.Do(func() { w.work(t, size) })
	if w.runs == nil {
		t.Fatal("the undisturbed runs, which another test has worked, failed there")
	}
	runs, questions = map[string]soakRun{}, map[string]int{}
	for i := range topics {
		topic := benchtest.Topic(i)
		runs[topic] = w.runs[topic]
		for hash, n := range w.questions[benchtest.HarbourOf(topic)] {
			questions[hash] += n
		}
	}
	for hash, n := range w.questions[""] { // that name no topic, and are the same for all
		questions[hash] += n * topics / size
	}
	return runs, questions
}

func (w *calmWork) work(t *testing.T, topics int) {
	t.Helper()
	s := newSoak(t)
	s.enqueue(topics)
	worker := s.start("calm", 20)
	s.checkReports(topics, s.wait(topics))
	s.end(worker)
	w.questions = map[string]map[string]int{}
	for _, c := range s.model.all() {
		if w.questions[c.topic] == nil {
			w.questions[c.topic] = map[string]int{}
		}
		w.questions[c.topic][c.hash]++
	}
	w.runs = s.runs()
}

// inBlocks waits until a worker is in the middle of so many topic blocks; of a worker that the model holds, those that
// are held: a block may have several calls open, and ends before a stop is known if they are its last.
func (s *soak) inBlocks(p *process, n int) {
	s.t.Helper()
	until(s.t, "calls of "+p.name, func() bool { return s.model.blocksIn(p.name) >= n })
}

// blocksOf returns the topic blocks that a process has asked about, by run and title, with the time of its last call.
func (s *soak) blocksOf(p *process) map[[2]string]time.Time {
	out := map[[2]string]time.Time{}
	for _, c := range s.model.all() {
		if c.block != "" && c.process == p.name {
			out[[2]string{c.topic, c.block}] = c.from
		}
	}
	return out
}

// TestFrozenWorker stops a worker with SIGSTOP in the middle of topic blocks until another one has taken them over,
// and lets it go on: it does and writes nothing more of them.
func TestFrozenWorker(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	topics := scaletest.Of(4, 10) + int(soakFreeze.Seconds())
	want, questions := undisturbed(t, topics)
	s := newSoak(t)
	s.enqueue(topics)
	frozen := s.start("frozen", 4)
	s.inBlocks(frozen, 2)
	other := s.start("other", 2)
	if err := frozen.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	taken := func() (n int) {
		had := s.blocksOf(frozen)
		for key := range s.blocksOf(other) {
			if _, both := had[key]; both {
				n++
			}
		}
		return n
	}
	until(t, "the work of the frozen worker is taken over", func() bool { return taken() > 0 })
	takenAfter := time.Since(stopped)
	until(t, "the worker was frozen long enough", func() bool { return time.Since(stopped) > *soakFreeze })
	before := s.blocksOf(frozen)
	thawed := time.Now()
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.deaths = append(s.deaths, death{frozen.name, stopped, thawed})
	states := s.wait(topics)
	s.end(frozen)
	s.end(other)

	s.checkReports(topics, states)
	runs := s.runs()
	checkSameRuns(t, runs, want)
	repeated, _ := s.checkCalls(questions, runs)
	most := mostBlocks(s.model.all())
	if most > 1 {
		t.Errorf("%d blocks of one run in flight, in series", most)
	}
	late, others := map[[2]string][]string{}, s.blocksOf(other)
	for _, c := range s.model.all() {
		key := [2]string{c.topic, c.block}
		if _, had := before[key]; had && c.process == frozen.name && c.from.After(thawed) && !others[key].IsZero() && !slices.Contains(late[key], c.step) {
			if late[key] = append(late[key], c.step); len(late[key]) > 1 { // one it may have been about to ask
				t.Errorf("%v is still worked by the frozen worker after it goes on: %q", key, late[key])
			}
		}
	}
	t.Logf("%d topics; first block taken over %s after the freeze, %d in all; frozen for %s; %d calls repeated; %d blocks that it asked about afterwards; %d attempts of it refused; at most %d blocks of a run in flight",
		topics, takenAfter.Round(100*time.Millisecond), taken(), thawed.Sub(stopped).Round(100*time.Millisecond), repeated.all(), len(late),
		len(s.logged("attempt stopped: another attempt has taken over this unit")), most)
	t.Logf("warnings: %v", s.warnings())
}

// handsOn is a lease that no test outlives: a topic block that is not handed on stays where it is.
const handsOn = "TEST_LEASE=10m"

// stopping stops a worker with SIGTERM, and calls then once it has begun to stop.
func (s *soak) stopping(p *process, then func()) {
	s.t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	until(s.t, p.name+" stops", func() bool {
		return slices.ContainsFunc(s.logged(""), func(l logLine) bool {
			return l.process == p.name && strings.HasPrefix(l.Message, "worker is stopping")
		})
	})
	then()
	if err := p.Wait(); err != nil {
		s.t.Errorf("%s: %v", p.name, err)
	}
	<-p.read
}

// TestStoppedWorker stops a worker with SIGTERM in the middle of topic blocks: another one goes on with them at once,
// and no model call is made again.
func TestStoppedWorker(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	topics := scaletest.Of(4, 10)
	want, questions := undisturbed(t, topics)
	s := newSoak(t, handsOn)
	release := s.model.hold("stopped")
	defer release()
	s.enqueue(topics)
	stopped := s.start("stopped", 4)
	s.inBlocks(stopped, 2)
	other := s.start("other", 12)
	until(t, "the other worker has started", func() bool {
		return slices.ContainsFunc(s.logged(""), func(l logLine) bool {
			return l.process == other.name && strings.HasPrefix(l.Message, "worker started")
		})
	})
	s.stopping(stopped, release)
	states := s.wait(topics)
	s.end(other)

	s.checkReports(topics, states)
	runs := s.runs()
	checkSameRuns(t, runs, want)
	s.checkCalls(questions, runs)
	handed, latest := 0, time.Duration(0)
	for _, h := range s.logged("attempt yielded to another worker") {
		if topicqueue.BlockNumber(h.Unit) == 0 {
			continue
		}
		handed++
		found := false
		for _, b := range s.logged("attempt started") {
			if b.Run == h.Run && b.Unit == h.Unit && b.Attempt == h.Attempt+1 {
				found, latest = true, max(latest, b.at.Sub(h.at))
			}
		}
		if !found {
			t.Errorf("%s of run %s was handed on, and nobody began it", h.Unit, h.Run)
		}
	}
	if handed < 2 {
		t.Errorf("%d blocks were handed on, want those that were in work", handed)
	}
	t.Logf("%d blocks handed on, the last begun again %s later; warnings: %v", handed, latest.Round(time.Millisecond), s.warnings())
}

// TestRedisAway takes Redis away in the middle of the work, frozen or stopped: nothing fails, no model call is made
// again, and all workers go on when it is back.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	topics := scaletest.Of(6, 16)
	want, questions := undisturbed(t, topics)
	for _, how := range []string{"frozen", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSoak(t, "TEST_LEASE=20s") // nobody dies here: a late renewal of a loaded machine is not what this is about
			s.enqueue(topics)
			workers := []*process{s.start("worker1", 3), s.start("worker2", 3)}
			for _, w := range workers {
				s.inBlocks(w, 2)
			}
			inFlight := s.model.open("", false)
			if how == "frozen" {
				s.redis.Signal(syscall.SIGSTOP)
			} else {
				s.redis.End(syscall.SIGTERM) // it may serve for a while until it has ended
			}
			gone := time.Now()
			until(t, "Redis was away long enough", func() bool { return time.Since(gone) > *soakAway })
			if how == "frozen" {
				s.redis.Signal(syscall.SIGCONT)
			} else {
				s.redis.Begin()
			}
			back := time.Now()
			states := s.wait(topics)
			took := time.Since(back)
			for _, w := range workers {
				s.end(w)
			}

			s.checkReports(topics, states)
			runs := s.runs()
			checkSameRuns(t, runs, want)
			s.checkCalls(questions, runs)
			meanwhile, first := 0, map[string]time.Duration{}
			for _, c := range s.model.all() {
				switch {
				// A call that had its permit before may begin late on a busy machine.
				case c.from.After(gone.Add(*soakAway/2)) && c.from.Before(back):
					meanwhile++
				case c.from.After(back) && first[c.process] == 0:
					first[c.process] = c.from.Sub(back).Round(10 * time.Millisecond)
				}
			}
			if meanwhile > 0 {
				t.Errorf("%d calls began while Redis was away", meanwhile)
			}
			if len(first) != len(workers) {
				t.Errorf("not all workers went on: %v", first)
			}
			for _, l := range s.logged("") {
				if slices.Contains([]string{"attempt failed", "task will be retried",
					"attempt stopped: another attempt has taken over this unit"}, l.Message) {
					t.Errorf("%s: %s of run %s: %s: %s", l.process, l.Unit, l.Run, l.Message, l.Error)
				}
			}
			t.Logf("%d topics; Redis away for %s with %d calls in flight; first calls after its return: %v; all done %s after it; warnings: %v",
				topics, back.Sub(gone).Round(100*time.Millisecond), inFlight, first, took.Round(100*time.Millisecond), s.warnings())
		})
	}
}

package main_test

import (
	"flag"
	"sync"
	"syscall"
	"testing"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

var (
	soakFreeze = flag.Duration("soak.freeze", 0, "how long TestFrozenWorker stops a worker, at least; it waits until its work was taken over in any case")
	soakAway   = flag.Duration("soak.away", 7*time.Second, "how long Redis is away in TestRedisAway")
)

// calmRuns are those that undisturbed has worked, by the number of their topics: tests that disturb the same ones share them.
var calmRuns struct {
	sync.Mutex
	of map[int]*calmWork
}

type calmWork struct {
	once      sync.Once
	runs      map[string]soakRun
	questions map[string]int
}

// undisturbed works so many topics with one worker and returns what comes of it, and the questions that were asked; nobody may
// change them. env: as for newSoak.
func undisturbed(t *testing.T, topics int, env ...string) (runs map[string]soakRun, questions map[string]int) {
	t.Helper()
	if len(env) > 0 {
		return workCalmly(t, topics, env...)
	}
	calmRuns.Lock()
	if calmRuns.of == nil {
		calmRuns.of = map[int]*calmWork{}
	}
	if calmRuns.of[topics] == nil {
		calmRuns.of[topics] = &calmWork{}
	}
	w := calmRuns.of[topics]
	calmRuns.Unlock()
	w.once.Do(func() { w.runs, w.questions = workCalmly(t, topics) })
	if w.runs == nil {
		t.Fatal("the undisturbed runs, which another test has worked, failed there")
	}
	return w.runs, w.questions
}

func workCalmly(t *testing.T, topics int, env ...string) (runs map[string]soakRun, questions map[string]int) {
	t.Helper()
	s := newSoak(t, env...)
	s.enqueue(topics)
	w := s.start("calm", 20)
	s.checkReports(topics, s.wait(topics))
	s.end(w)
	return s.runs(), s.model.questions()
}

// inBlocks waits until a worker is in the middle of so many topic blocks.
func (s *soak) inBlocks(p *process, n int) {
	s.t.Helper()
	until(s.t, "calls of "+p.name, func() bool { return s.model.open(p.name, true) >= n })
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

// TestFrozenWorker stops a worker with SIGSTOP in the middle of topic blocks until another one has taken them over, and lets it go on:
// it does and writes nothing more of them.
func TestFrozenWorker(t *testing.T) {
	t.Parallel()
	topics := 10 + int(soakFreeze.Seconds())
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
	late, others := 0, s.blocksOf(other)
	for key := range before {
		if at := s.blocksOf(frozen)[key]; at.After(thawed) && !others[key].IsZero() {
			late++
			if fence := redisqueue.DefaultTiming.Lease / 4; at.Sub(thawed) > fence {
				t.Errorf("%v is still worked by the frozen worker %s after it goes on", key, at.Sub(thawed))
			}
		}
	}
	t.Logf("%d topics; first block taken over %s after the freeze, %d in all; frozen for %s; %d calls repeated; %d blocks that it asked about afterwards; %d attempts of it refused; at most %d blocks of a run in flight",
		topics, takenAfter.Round(100*time.Millisecond), taken(), thawed.Sub(stopped).Round(100*time.Millisecond), repeated.all(), late,
		len(s.logged("stopped: the unit is no longer this attempt's")), most)
	t.Logf("warnings: %v", s.warnings())
}

// TestStoppedWorker stops a worker with SIGTERM in the middle of topic blocks: another one goes on with them at once, and no
// model call is made again.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	const topics = 10
	want, questions := undisturbed(t, topics)
	s := newSoak(t)
	s.enqueue(topics)
	stopped := s.start("stopped", 4)
	s.inBlocks(stopped, 2)
	other := s.start("other", 12)
	until(t, "the other worker works", func() bool { return s.model.open(other.name, false) > 0 })
	s.inBlocks(stopped, 2)
	asked := time.Now()
	s.end(stopped)
	took := time.Since(asked)
	states := s.wait(topics)
	s.end(other)

	s.checkReports(topics, states)
	runs := s.runs()
	checkSameRuns(t, runs, want)
	s.checkCalls(questions, runs)
	handed, latest := 0, time.Duration(0)
	for _, h := range s.logged("handed on") {
		if topicqueue.BlockNumber(h.Unit) == 0 {
			continue
		}
		handed++
		found := false
		for _, b := range s.logged("started") {
			if b.Run == h.Run && b.Unit == h.Unit && b.Attempt == h.Attempt+1 {
				found, latest = true, max(latest, b.at.Sub(h.at))
			}
		}
		if !found {
			t.Errorf("%s of run %s was handed on, and nobody began it", h.Unit, h.Run)
		}
	}
	if handed == 0 {
		t.Error("no block was handed on: the test shows nothing")
	}
	if latest > 2*time.Second {
		t.Errorf("a block was begun again %s after it was handed on", latest)
	}
	t.Logf("the worker ended %s after SIGTERM; %d blocks handed on, the last begun again %s later; warnings: %v",
		took.Round(10*time.Millisecond), handed, latest.Round(time.Millisecond), s.warnings())
}

// TestRedisAway takes Redis away in the middle of the work, frozen or stopped: nothing fails, no model call is made again, and
// all workers go on when it is back.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	const topics = 16
	want, questions := undisturbed(t, topics)
	for _, how := range []string{"frozen", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSoak(t)
			s.enqueue(topics)
			workers := []*process{s.start("worker1", 3), s.start("worker2", 3)}
			for _, w := range workers {
				s.inBlocks(w, 2)
			}
			gone := time.Now()
			inFlight := s.model.open("", false)
			if how == "frozen" {
				s.redis.Signal(syscall.SIGSTOP)
			} else {
				s.redis.End(syscall.SIGTERM)
			}
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
				case c.from.After(gone.Add(500*time.Millisecond)) && c.from.Before(back):
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
				if l.Message == "failed" || l.Message == "to be tried again" || l.Message == "stopped: the unit is no longer this attempt's" {
					t.Errorf("%s: %s of run %s: %s: %s", l.process, l.Unit, l.Run, l.Message, l.Error)
				}
			}
			t.Logf("%d topics; Redis away for %s with %d calls in flight; first calls after its return: %v; all done %s after it; warnings: %v",
				topics, back.Sub(gone).Round(100*time.Millisecond), inFlight, first, took.Round(100*time.Millisecond), s.warnings())
		})
	}
}

package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/config"
	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/redisqueue"
)

// TestMain lets the test binary serve as the program: scripts and process tests run the real thing.
func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"nightdesk": func() {
		proctest.TieSelf() // a killed test leaves no workers behind
		if lease, err := time.ParseDuration(os.Getenv("TEST_LEASE")); err == nil {
			shorten(&redisqueue.DefaultTiming, lease)
		}
		if dir := os.Getenv("FLEET_PROFILE"); dir != "" && len(os.Args) > 1 && os.Args[1] == "worker" {
			profile(filepath.Join(dir, strconv.Itoa(os.Getpid())+".pprof"))
		}
		main()
	}})
}

// suite runs all tests, with no pause at the end of the program's processes under the race detector, and by words only.
type suite struct{ *testing.M }

func (s suite) Run() int {
	for name, value := range map[string]string{
		"GORACE":          "atexit_sleep_ms=0 " + os.Getenv("GORACE"),
		"EMBEDDING_MODEL": config.NoModel, // the built-in model would be fetched
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return s.M.Run()
}

// shorten makes a lease last that long, and other times of the queue shorter in proportion. The gap stays: it must be
// longer than the time from one sweep to the next.
func shorten(timing *redisqueue.Timing, lease time.Duration) {
	part := lease.Seconds() / timing.Lease.Seconds()
	for _, d := range []*time.Duration{&timing.Lease, &timing.Stuck, &timing.Quiet} {
		*d = time.Duration(float64(*d) * part)
	}
}

// profile records what this process spends processor time on until it gets SIGUSR1. Then the file is there, whole.
func profile(path string) {
	file, err := os.Create(path + ".part")
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		<-asked
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			panic(err)
		}
		if err := os.Rename(path+".part", path); err != nil {
			panic(err)
		}
	}()
}

package main_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var bulkTopics = flag.Int("bulk.topics", 3000, "topics of TestBulk")

// TestBulk enqueues a long CSV file and a tenth of it, twice each, and says what that takes:
// go test ./cmd/nightdesk -run TestBulk -v -args -bulk.topics 100000
func TestBulk(t *testing.T) {
	socket := redistest.Socket(t)
	f := newDeskAt(t, "redis-socket://"+socket)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer rdb.Close()
	resident := map[int]int64{}
	for _, n := range []int{*bulkTopics / 10, *bulkTopics} {
		file, batch := fmt.Sprintf("list%d.csv", n), fmt.Sprintf("batch%d", n)
		if err := benchtest.WriteList(filepath.Join(f.dir, file), n); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{n, 0} {
			before, began := costOf(t, rdb), time.Now()
			cmd := f.command("enqueue", file, "--kb", "docs", "--batch", batch)
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			took, after := time.Since(began), costOf(t, rdb)
			if text := fmt.Sprintf("batch %s: %d topics enqueued", batch, want); !strings.HasPrefix(out.String(), text) {
				t.Errorf("%s, want %q", out.String(), text)
			}
			usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Fatal("no resource usage")
			}
			bytesEach := (after.Memory - before.Memory) / n
			t.Logf("%d of %d topics enqueued in %s, %.1f s of processor time, %d MB resident, %d bytes of Redis each",
				want, n, took.Round(10*time.Millisecond), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), usage.Maxrss>>10, bytesEach)
			if want > 0 {
				resident[n] = usage.Maxrss << 10
			}
			if want > 1000 && bytesEach > 2500 {
				t.Errorf("%d bytes of Redis a topic", bytesEach)
			}
		}
	}
	// The command keeps each topic once.
	if grown, most := resident[*bulkTopics]-resident[*bulkTopics/10], int64(16<<20)+700*int64(*bulkTopics); grown > most {
		t.Errorf("%d topics take %d bytes more of the command's memory than a tenth of them, at most %d are right", *bulkTopics, grown, most)
	}
}

// TestInterruptedEnqueue stops an enqueueing with Ctrl-C, twice: each time it says how many topics are in the queue,
// and the next one adds the others.
func TestInterruptedEnqueue(t *testing.T) {
	t.Parallel()
	f := newDeskAt(t, "redis-socket://"+redistest.Socket(t))
	const topics = 5000
	if err := benchtest.WriteList(filepath.Join(f.dir, "list.csv"), topics); err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`lines \d+ to \d+: interrupted\n  At least (\d+) of 5000 topics are in the queue; enqueue the file again with --batch night`)
	least := 0
	for range 2 {
		cmd := f.command("enqueue", "list.csv", "--kb", "docs", "--batch", "night", "--json")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == least { // those that are there come first
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		err = cmd.Wait()
		match := said.FindStringSubmatch(stderr.String())
		if cmd.ProcessState.ExitCode() != 1 || match == nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		now, err := strconv.Atoi(match[1])
		if err != nil || now <= least {
			t.Errorf("%s in the queue, before %d, %v", match[1], least, err)
		}
		least = now
	}
	out := f.output("enqueue", "list.csv", "--kb", "docs", "--batch", "night")
	var added, known int
	if _, err := fmt.Sscanf(out, "batch night: %d topics enqueued, %d there already", &added, &known); err != nil || added+known != topics || known < least {
		t.Errorf("%s: at least %d were there, %v", out, least, err)
	}
}

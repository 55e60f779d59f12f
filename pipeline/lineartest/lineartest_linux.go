// Package lineartest says for tests whether what reads a text takes no longer than its length allows. It measures the
// processor's time: what else the machine does is not counted.
package lineartest

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Check fails unless do takes about as many times longer for a text as that is longer than a short one of the same
// kind, and not the square of it. What takes less than half a second is good enough. It returns what the long text
// took.
func Check(t testing.TB, name, short, long string, do func(text string)) time.Duration {
	t.Helper()
	took := cpuTime(t, long, do)
	if took < 500*time.Millisecond {
		return took
	}
	few := min(cpuTime(t, short, do), cpuTime(t, short, do), cpuTime(t, short, do))
	bound := 5 * float64(len(long)) / float64(len(short)) * float64(few)
	if float64(took) > bound { // collecting garbage of other tests counts for the thread that must help with it
		took = min(took, cpuTime(t, long, do))
	}
	if float64(took) > bound {
		t.Errorf("%s: %s for %d bytes, %s for %d", name, few, len(short), took, len(long))
	}
	return took
}

// cpuTime is what do takes of the thread that it runs on.
func cpuTime(t testing.TB, text string, do func(text string)) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		const thread = 1 // RUSAGE_THREAD
		if err := syscall.Getrusage(thread, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	do(text)
	return max(used()-start, time.Millisecond)
}

// Package lineartest checks in tests that processing time grows linearly with text length. It measures CPU time, so
// other load on the machine does not count.
package lineartest

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Check fails if do's CPU time grows faster than linearly with the text length. short and long are texts of the same
// kind. Times below half a second always pass. Check returns the CPU time for the long text.
func Check(t testing.TB, name, short, long string, do func(text string)) time.Duration {
	t.Helper()
	took := cpuTime(t, long, do)
	if took < 500*time.Millisecond {
		return took
	}
	few := min(cpuTime(t, short, do), cpuTime(t, short, do), cpuTime(t, short, do))
	bound := 5 * float64(len(long)) / float64(len(short)) * float64(few)
	if float64(took) > bound { // garbage collection for other tests may have run on this thread
		took = min(took, cpuTime(t, long, do))
	}
	if float64(took) > bound {
		t.Errorf("%s: %s for %d bytes, %s for %d", name, few, len(short), took, len(long))
	}
	return took
}

// cpuTime returns the CPU time of do on its thread.
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

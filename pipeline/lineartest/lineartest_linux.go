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
	of := func(text string) time.Duration { return max(Time(t, func() { do(text) }), time.Millisecond) }
	took := of(long)
	if took < 500*time.Millisecond {
		return took
	}
	few := min(of(short), of(short), of(short))
	bound := 5 * float64(len(long)) / float64(len(short)) * float64(few)
	if float64(took) > bound { // garbage collection for other tests may have run on this thread
		took = min(took, of(long))
	}
	if float64(took) > bound {
		t.Errorf("%s: %s for %d bytes, %s for %d", name, few, len(short), took, len(long))
	}
	return took
}

// Time returns the CPU time of do on its thread. On other systems than Linux it is the time that has passed.
func Time(t testing.TB, do func()) time.Duration {
	t.Helper()
	if runtime.GOOS != "linux" {
		start := time.Now()
		do()
		return time.Since(start)
	}
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
	do()
	return used() - start
}

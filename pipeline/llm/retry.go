package llm

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
)

// backoff returns the wait after the n-th failed try, n from 1: exponential with full jitter, so that workers which
// failed together do not come back together.
func backoff(n int) time.Duration {
	ceiling := maxBackoff
	if n < 7 { // 500 ms << 6 is above the ceiling
		ceiling = min(maxBackoff, firstBackoff<<(n-1))
	}
	return rand.N(ceiling) + 1
}

// retryAfter reads how long a server wants to be left alone: retry-after-ms, else Retry-After in seconds or as an HTTP
// date. 0 = it did not say, or not intelligibly.
func retryAfter(header http.Header, now time.Time) time.Duration {
	const most = 7 * 24 * time.Hour
	number := func(name string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(strings.TrimSpace(header.Get(name)), 64)
		if err != nil || !(n >= 0) {
			return 0, false
		}
		return time.Duration(min(n*float64(unit), float64(most))), true
	}
	if d, ok := number("Retry-After-Ms", time.Millisecond); ok {
		return d
	}
	if d, ok := number("Retry-After", time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return 0
}

// sleep waits. It returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// beyond reports whether a wait of d would end at or after ctx's deadline.
func beyond(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= d
}

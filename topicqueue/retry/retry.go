// Package retry is about coming back to a server: After reads when it asks for that, Backoff says when where it does
// not, Sleep waits until then. It decides neither what is tried again nor how often: its callers know.
package retry

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After returns how long a server wants to be left alone, from 0 to most: Retry-After-Ms, else Retry-After, which is in
// seconds or an HTTP date. 0 = it does not say, or not intelligibly.
// Source: RFC 9110, section 10.2.3; Retry-After-Ms is what model servers add to it.
func After(header http.Header, now time.Time, most time.Duration) time.Duration {
	if d, ok := number(header.Get("Retry-After-Ms"), time.Millisecond, most); ok {
		return d
	}
	if d, ok := number(header.Get("Retry-After"), time.Second, most); ok {
		return d
	}
	if at, err := http.ParseTime(strings.TrimSpace(header.Get("Retry-After"))); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return 0
}

// number reads a number of units, with or without a fraction.
func number(text string, unit, most time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) {
		return 0, false
	}
	if n *= float64(unit); n >= float64(most) {
		return most, true
	}
	return time.Duration(n), true
}

// Backoff returns the wait after the n-th failed try, n from 1: below first, doubled with each further one, never above
// most; both are above 0. It is drawn from the whole range, so that those who failed together do not come back
// together. Source: full jitter (M. Brooker, Exponential Backoff and Jitter, 2015).
func Backoff(n int, first, most time.Duration) time.Duration {
	ceiling := first
	for ; n > 1 && ceiling < most; n-- {
		ceiling *= 2
	}
	return rand.N(min(ceiling, most)) + 1
}

// Sleep waits for d. When ctx ends first, it returns context.Cause(ctx).
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Fits reports whether a wait of d is over before ctx's deadline.
func Fits(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > d
}

// Package retry implements waiting before retries: After reads the wait that a server asks for, Backoff computes one
// if it does not ask, Sleep waits. Callers decide what is retried and how often.
package retry

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After returns how long a server asks to be left alone, from 0 to most: Retry-After-Ms, else Retry-After in seconds
// or as an HTTP date. 0: not stated or not readable. Source: RFC 9110, section 10.2.3; Retry-After-Ms is an addition
// of model servers.
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

// number parses a number of units, with or without a fraction.
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

// Backoff returns the wait after the n-th failed try, n from 1. Its upper bound is first, doubled for each further
// try, at most most; both are above 0. The wait is random over the whole range, so that simultaneous failures are not
// retried simultaneously. Source: full jitter (M. Brooker, Exponential Backoff and Jitter, 2015).
func Backoff(n int, first, most time.Duration) time.Duration {
	ceiling := first
	for ; n > 1 && ceiling < most; n-- {
		ceiling *= 2
	}
	return rand.N(min(ceiling, most)) + 1
}

// Sleep waits for d. If ctx ends first, it returns context.Cause(ctx).
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

// Fits reports whether a wait of d ends before ctx's deadline.
func Fits(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > d
}

package retry_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/topicqueue/retry"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

func TestAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ms, after string
		want            time.Duration
	}{
		{name: "nothing"},
		{name: "seconds", after: "30", want: 30 * time.Second},
		{name: "with a fraction", after: " 1.5 ", want: 1500 * time.Millisecond},
		{name: "none", after: "0"},
		{name: "milliseconds come first", ms: "250", after: "1", want: 250 * time.Millisecond},
		{name: "milliseconds that are none", ms: "soon", after: "1", want: time.Second},
		{name: "a date", after: "Sun, 01 Mar 2026 12:01:00 GMT", want: time.Minute},
		{name: "a date of RFC 850", after: "Sunday, 01-Mar-26 12:01:00 GMT", want: time.Minute},
		{name: "a date that is over", after: "Sun, 01 Mar 2026 11:00:00 GMT"},
		{name: "a date far away", after: "Fri, 01 Mar 9999 12:00:00 GMT", want: week},
		{name: "too long", after: "99999999999", want: week},
		{name: "more than a number can be", after: "1e999"},
		{name: "infinite", after: "Inf", want: week},
		{name: "no number", after: "NaN"},
		{name: "negative", after: "-5"},
		{name: "words", after: "in a while"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set("Retry-After-Ms", tt.ms)
			header.Set("Retry-After", tt.after)
			if got := retry.After(header, now, week); got != tt.want {
				t.Errorf("After(%q, %q) = %s, want %s", tt.ms, tt.after, got, tt.want)
			}
		})
	}
}

func FuzzAfter(f *testing.F) {
	for _, seed := range []string{"", "30", "1e308", "NaN", "-0", "0x1p-2", "Sun, 01 Mar 2026 12:01:00 GMT", "Sun, 01 Mar 0000 00:00:00 GMT"} {
		f.Add(seed, seed, int64(time.Hour))
		f.Add("Inf", seed, int64(math.MaxInt64))
	}
	f.Fuzz(func(t *testing.T, ms, after string, most int64) {
		most = max(most, 0)
		header := http.Header{"Retry-After-Ms": {ms}, "Retry-After": {after}}
		if got := retry.After(header, now, time.Duration(most)); got < 0 || got > time.Duration(most) {
			t.Fatalf("After(%q, %q) = %s, not within 0 and %s", ms, after, got, time.Duration(most))
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	const first, most = 500 * time.Millisecond, 20 * time.Second
	for n, ceiling := range map[int]time.Duration{1: first, 2: 2 * first, 3: 4 * first, 6: 32 * first, 7: most, 1 << 40: most} {
		longest := time.Duration(0)
		for range 1000 {
			d := retry.Backoff(n, first, most)
			if d <= 0 || d > ceiling {
				t.Fatalf("after try %d: %s, not within 0 and %s", n, d, ceiling)
			}
			longest = max(longest, d)
		}
		if longest < ceiling/2 { // once in 2^1000
			t.Errorf("after try %d: never above %s of %s", n, longest, ceiling)
		}
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := retry.Sleep(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("a whole sleep: %v after %s", err, time.Since(start))
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, enough)
		defer cancel()
		if !retry.Fits(ctx, time.Second-1) || retry.Fits(ctx, time.Second) || !retry.Fits(t.Context(), week) {
			t.Error("what fits before a deadline")
		}
		start = time.Now()
		if err := retry.Sleep(ctx, time.Minute); !errors.Is(err, enough) || time.Since(start) != time.Second {
			t.Errorf("a sleep cut short: %v after %s", err, time.Since(start))
		}
	})
}

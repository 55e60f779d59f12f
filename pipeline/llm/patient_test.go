package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

// TestPatienceEnds: a call waits until its patience ends for a server that is down or asks for a very long pause, and
// reports the reason. An available server is called even after that.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	const patience = time.Minute
	for name, tc := range map[string]struct {
		handler *llmtest.Stub
		desk    *desk
		says    string
	}{
		"down":             {body("<html>"), &desk{up: make(chan struct{})}, "model.test answered with an HTML page"},
		"a long rest":      {&llmtest.Stub{Busy: 1000, RetryAfter: "7200"}, &desk{}, "it asks to wait 2h0m0s"},
		"a rest, then up":  {&llmtest.Stub{Busy: 1, RetryAfter: "7200"}, &desk{}, ""},
		"two tries failed": {&llmtest.Stub{Fail: 2}, &desk{}, "answered 503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				start := time.Now()
				if tc.desk.up != nil {
					tc.desk.up = make(chan struct{})
				}
				model := llm.Run{Model: governed(t, tc.handler, tc.desk), Journal: counting(nil), Until: start.Add(patience)}
				_, err := model.Generate(ctx, free())
				took := time.Since(start)
				if tc.says == "" {
					if err != nil || took > patience {
						t.Errorf("%v after %s", err, took)
					}
					return
				}
				if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), tc.says) {
					t.Error(err)
				}
				if waits := name != "two tries failed"; waits && (took < patience-2*time.Second || took > patience+time.Second) {
					t.Errorf("it took %s", took)
				}
				start = time.Now()
				if _, err = model.Generate(ctx, free()); (err == nil) != (name == "two tries failed") || time.Since(start) > time.Second {
					t.Errorf("afterwards: %v after %s", err, time.Since(start))
				}
			})
		})
	}
}

package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// pace holds the timeouts and retry limits of S3.
type pace struct {
	attempts int           // per request
	pause    time.Duration // maximum pause between two attempts
	patience time.Duration // maximum duration of an attempt, plus the time for its bytes
	rate     int64         // assumed minimum throughput for that, in bytes per second
}

var usualPace = pace{attempts: 6, pause: 8 * time.Second, patience: 30 * time.Second, rate: 64 << 10}

// newRetryer returns the SDK's standard policy (errors of network and server, throttling; exponential pauses with
// jitter) without its quota. After an outage under load, the quota would prevent retries until a request succeeds.
func newRetryer(p pace) aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = p.attempts, p.pause, ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(hopeless)}, o.Retryables...)
		o.Retryables = append(o.Retryables,
			retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}},
			retry.RetryableErrorCode{Codes: map[string]struct{}{
				"ConditionalRequestConflict": {}, "OperationAborted": {}, // another writer uses the same key
				"IncompleteBody": {}, // the connection was cut
			}})
	})
}

// hopeless stops the SDK from retrying errors that only a configuration change can fix.
func hopeless(err error) aws.Ternary {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) || errors.Is(err, http.ErrSchemeMismatch) {
		return aws.FalseTernary
	}
	return aws.UnknownTernary
}

// slowError ends an attempt that took too long. It is retryable.
type slowError struct{ limit time.Duration }

func (e slowError) Error() string {
	return fmt.Sprintf("the server is too slow: no complete response within %s", e.limit)
}
func (e slowError) Timeout() bool { return true }

// patientClient limits the time of each attempt according to its size. It aborts on a server that hangs or drips, but
// not on a large body over a slow line. The limit includes reading the response body.
type patientClient struct {
	next s3.HTTPClient
	pace pace
}

func (c patientClient) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	limit := c.limit(req.ContentLength)
	timer := time.AfterFunc(limit, func() { cancel(slowError{limit}) })
	stop := func() { timer.Stop(); cancel(nil) }
	resp, err := c.next.Do(req.WithContext(ctx))
	if err != nil {
		defer stop()
		return resp, tooSlow(ctx, err)
	}
	if timer.Stop() {
		limit = c.limit(resp.ContentLength)
		timer = time.AfterFunc(limit, func() { cancel(slowError{limit}) })
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, ctx: ctx, stop: stop}
	return resp, nil
}

func (c patientClient) limit(bytes int64) time.Duration {
	return c.pace.patience + time.Duration(max(bytes, 0)/c.pace.rate)*time.Second
}

// tooSlow returns the slowError that ended ctx, or err if there is none.
func tooSlow(ctx context.Context, err error) error {
	if slow, ok := context.Cause(ctx).(slowError); ok {
		return slow
	}
	return err
}

type limitedBody struct {
	io.ReadCloser
	ctx  context.Context // of the attempt, which includes reading the body
	stop func()
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = tooSlow(b.ctx, err)
	}
	return n, err
}

func (b *limitedBody) Close() error {
	defer b.stop()
	return b.ReadCloser.Close()
}

package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// pace is how long S3 waits and how often it tries.
type pace struct {
	attempts int           // of one request
	pause    time.Duration // longest between two attempts
	patience time.Duration // an attempt may take this
	rate     int64         // and the time for its bytes, at so many per second
	single   int           // bytes; longer bodies are uploaded in parts
	part     int           // bytes; S3 allows no less than 5 MiB
}

var usualPace = pace{attempts: 6, pause: 8 * time.Second, patience: 30 * time.Second, rate: 64 << 10,
	single: 16 << 20, part: 8 << 20}

// retryer is the SDK's standard policy (errors of network and server, throttling; exponential pauses with jitter),
// without its quota: after an outage under load that refuses to try again for as long as nothing succeeds.
type retryer struct{ *retry.Standard }

func newRetryer(p pace) retryer {
	return retryer{retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = p.attempts, p.pause, ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(hopeless)}, o.Retryables...)
		o.Retryables = append(o.Retryables,
			retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}},
			retry.RetryableErrorCode{Codes: map[string]struct{}{
				"ConditionalRequestConflict": {}, "OperationAborted": {}, // another writer is at the same key
				"IncompleteBody": {}, // the connection was cut
			}})
	})}
}

// hopeless keeps the SDK from trying again what only a person can change.
func hopeless(err error) aws.Ternary {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) || errors.Is(err, http.ErrSchemeMismatch) {
		return aws.FalseTernary
	}
	return aws.UnknownTernary
}

// GetRetryToken is called before each new attempt. It remembers why there is one.
func (r retryer) GetRetryToken(ctx context.Context, err error) (func(error) error, error) {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		rec.set(err)
	}
	return r.Standard.GetRetryToken(ctx, err)
}

var _ aws.RetryerV2 = retryer{}

// record holds the last error for which a call was tried again. The SDK forgets it when the context ends in a pause.
type record struct {
	mu   sync.Mutex
	last error
}

type recordKey struct{}

func withRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordKey{}, new(record))
}

func (r *record) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = err
}

// lastTry returns why the call was tried again; nil when it was not.
func lastTry(ctx context.Context) error {
	rec, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return nil
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.last
}

// slowError ends an attempt that took too long. It is worth another.
type slowError struct{ limit time.Duration }

func (e slowError) Error() string {
	return fmt.Sprintf("the server is too slow: no complete answer within %s", e.limit)
}
func (e slowError) Timeout() bool { return true }

// patientClient limits the time of each attempt by its bytes: a server that hangs or drips is given up, a large body
// on a slow line is not. The limit holds for the answer's body too.
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

// tooSlow returns the cause by which ctx was ended by us, else err.
func tooSlow(ctx context.Context, err error) error {
	if slow, ok := context.Cause(ctx).(slowError); ok {
		return slow
	}
	return err
}

type limitedBody struct {
	io.ReadCloser
	ctx  context.Context // of the attempt: a body is its last part
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

package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// bodyAttempts is the number of attempts of Get when a response breaks off after its start. The SDK does not retry
// those.
const bodyAttempts = 3

// Get downloads the object and verifies its length and checksums: the server's, if it sends one, and ours.
func (s *S3) Get(ctx context.Context, key string) ([]byte, error) {
	if err := usable(ctx, key); err != nil {
		return nil, s.failed(ctx, "fetch", key, err)
	}
	for attempt := 1; ; attempt++ {
		body, err := s.download(ctx, key)
		if err == nil {
			return body, nil
		}
		var broken bodyError
		if !errors.As(err, &broken) || attempt == bodyAttempts {
			return nil, s.failed(ctx, "fetch", key, err)
		}
		if err := s.pauseAfter(ctx, attempt, err); err != nil {
			return nil, s.failed(ctx, "fetch", key, err)
		}
	}
}

// bodyError is a failure after the response headers: the body is incomplete or differs from what was stored.
type bodyError struct{ err error }

func (e bodyError) Error() string { return e.err.Error() }
func (e bodyError) Unwrap() error { return e.err }

func (s *S3) download(ctx context.Context, key string) ([]byte, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key),
		ChecksumMode: types.ChecksumModeEnabled})
	if code(err) == "NoSuchKey" {
		return nil, ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	var body bytes.Buffer
	length := aws.ToInt64(out.ContentLength)
	body.Grow(int(min(length, 64<<20)) + bytes.MinRead) // a hint, bounded because the server's value may be wrong
	if _, err := body.ReadFrom(out.Body); err != nil {
		return nil, bodyError{fmt.Errorf("the response ended after %d of %d bytes: %w", body.Len(), length, err)}
	}
	if out.ContentLength != nil && int64(body.Len()) != length {
		return nil, bodyError{fmt.Errorf("the response has %d bytes instead of %d", body.Len(), length)}
	}
	if want, got := out.Metadata[metaSum], sumOf(body.Bytes()); want != "" && got != want {
		return nil, bodyError{fmt.Errorf("the content is damaged: its SHA-256 is %s, but it was stored with %s", got, want)}
	}
	return body.Bytes(), nil
}

// pauseAfter waits as long as the SDK would before its next attempt.
func (s *S3) pauseAfter(ctx context.Context, attempt int, err error) error {
	pause, err := s.retryer.RetryDelay(attempt, err)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// sumOf returns the SHA-256 of body in lower-case hex.
func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

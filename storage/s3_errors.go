package storage

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// s3Error has a message for users and wraps the causes for errors.Is and errors.As.
type s3Error struct {
	text   string
	causes []error
}

func (e *s3Error) Error() string   { return e.text }
func (e *s3Error) Unwrap() []error { return e.causes }

// failed wraps err with the operation, key, bucket and host, the reason and advice. It returns nil if err is nil.
func (s *S3) failed(ctx context.Context, doing, key string, err error) error {
	if err == nil {
		return nil
	}
	e := &s3Error{causes: []error{err}}
	reason := s.explain(err)
	var gaveUp *retry.MaxAttemptsError
	switch {
	case ctx.Err() != nil:
		e.causes = append(e.causes, context.Cause(ctx))
		reason = context.Cause(ctx).Error()
	case errors.As(err, &gaveUp):
		reason = fmt.Sprintf("%s (%d attempts)", reason, gaveUp.Attempt)
	}
	var missing credentialsError
	away := false
	switch code := status(err); code {
	case 0:
		away = !errors.As(err, &missing) && !errors.Is(err, ErrNotExist)
	case http.StatusTooManyRequests:
		away = true
	default:
		away = code >= 500 && code != http.StatusNotImplemented
	}
	if away {
		e.causes = append(e.causes, ErrAway)
	}
	e.text = fmt.Sprintf("%s %q in bucket %s at %s: %s", doing, key, s.bucket, s.host, s.credentials.redact(reason))
	return e
}

// code returns the S3 error code of err, or "" if it has none.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// status returns the HTTP status of err, or 0 if it has none.
func status(err error) int {
	var resp *smithyhttp.ResponseError
	if errors.As(err, &resp) {
		return resp.HTTPStatusCode()
	}
	return 0
}

// explain says in one line what went wrong, and what to do.
func (s *S3) explain(err error) string {
	var (
		missing credentialsError
		cert    *tls.CertificateVerificationError
		broken  bodyError
	)
	advice := "check the server, " + s.endpoint + " and the network"
	switch {
	case errors.As(err, &missing):
		err, advice = fmt.Errorf("no usable credentials: %w", missing), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case status(err) != 0:
		return s.explainAnswer(err)
	case errors.As(err, &cert):
		err, advice = cert, "set AWS_CA_BUNDLE to the authority's certificate, or correct "+s.endpoint
	case errors.As(err, &broken):
		err = broken
	default:
		err = innermost(err)
	}
	return plain(err.Error()) + ": " + advice
}

// innermost returns the cause of an error without the operations around it.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func (s *S3) explainAnswer(err error) string {
	answer := fmt.Sprintf("%d %s", status(err), http.StatusText(status(err)))
	var api smithy.APIError
	spoken := errors.As(err, &api) && api.ErrorCode() != "UnknownError" &&
		api.ErrorMessage() != http.StatusText(status(err))
	if spoken {
		answer = plain(fmt.Sprintf("%d %s: %s", status(err), api.ErrorCode(), api.ErrorMessage()))
	}
	remedy := cmp.Or(s.remedies()[code(err)], s.remedies()[strconv.Itoa(status(err))])
	switch {
	case remedy != "":
	case status(err) >= 500:
		remedy = "check its log, or try again later"
	case !spoken:
		remedy = "this is not an S3 server; correct " + s.endpoint
	default:
		return "the server answers " + answer
	}
	return "the server answers " + answer + ": " + remedy
}

// remedies says what to do about answers, by code or status.
func (s *S3) remedies() map[string]string {
	region := fmt.Sprintf("the bucket is in another region than %s; correct %s", s.client.Options().Region, s.region)
	full := "free disk space there"
	rights := "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may get, put and list objects"
	return map[string]string{
		"NoSuchBucket":                 "create bucket " + s.bucket + ", or correct STORAGE_URL",
		"InvalidAccessKeyId":           "correct AWS_ACCESS_KEY_ID",
		"XAdminUserNotFound":           "correct AWS_ACCESS_KEY_ID", // of versitygw
		"SignatureDoesNotMatch":        "correct AWS_SECRET_ACCESS_KEY",
		"ExpiredToken":                 "renew the AWS_* credentials",
		"InvalidToken":                 "renew the AWS_* credentials",
		"RequestTimeTooSkewed":         "set the clock of this machine or of the server",
		"PermanentRedirect":            region,
		"AuthorizationHeaderMalformed": region,
		"301":                          region,
		"403":                          rights,
		"501":                          "use another S3 server",
		"QuotaExceeded":                full,
		"XMinioStorageFull":            full,
		"507":                          full,
		"503":                          "try again later, or with fewer workers",
		"429":                          "try again later, or with fewer workers",
	}
}

// plain reduces external text to one line of at most 300 characters.
func plain(text string) string {
	line := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " "))
	if len(line) > 300 {
		line = append(line[:299], '…')
	}
	return string(line)
}

// credentialsError means that no credentials were found.
type credentialsError struct{ err error }

func (e credentialsError) Error() string { return e.err.Error() }
func (e credentialsError) Unwrap() error { return e.err }

// watchedCredentials marks the errors of a provider and remembers its last credentials so that messages can redact
// them.
type watchedCredentials struct {
	provider aws.CredentialsProvider
	last     atomic.Pointer[aws.Credentials]
}

func (c *watchedCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.provider.Retrieve(ctx)
	if err != nil {
		return found, credentialsError{err}
	}
	c.last.Store(&found)
	return found, nil
}

// Minimum lengths for redaction: the shortest keys that servers issue. A shorter value is a name, such as that of the
// program or its bucket.
const (
	minAccessKey = 16
	minSecretKey = 8
)

// redact removes credentials that a server has echoed.
func (c *watchedCredentials) redact(text string) string {
	last := c.last.Load()
	if last == nil {
		return text
	}
	for _, secret := range []string{last.SecretAccessKey, last.SessionToken} {
		if len(secret) >= minSecretKey {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	if len(last.AccessKeyID) >= minAccessKey {
		text = strings.ReplaceAll(text, last.AccessKeyID, "[redacted]")
	}
	return text
}

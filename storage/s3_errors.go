package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
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
		cause := context.Cause(ctx)
		e.causes = append(e.causes, cause)
		reason = cause.Error()
		if last := lastTry(ctx); last != nil {
			reason += "; the attempt before: " + s.explain(last)
		}
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

// explain returns the reason and advice, in one line.
func (s *S3) explain(err error) string {
	var missing credentialsError
	if errors.As(err, &missing) {
		return fmt.Sprintf("no usable credentials (%s): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			plain(missing.err.Error()))
	}
	if status(err) != 0 {
		return s.explainAnswer(err)
	}
	var (
		name *net.DNSError
		cert *tls.CertificateVerificationError
		slow slowError
		op   *net.OpError
		req  *url.Error
		call *smithy.OperationError
	)
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s cannot be resolved (%s): correct %s, or check the network", name.Name,
			name.Err, s.endpoint)
	case errors.As(err, &cert):
		return fmt.Sprintf("its certificate is not trusted (%s): set AWS_CA_BUNDLE to the authority's certificate, or "+
			"correct %s", plain(cert.Err.Error()), s.endpoint)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Sprintf("no connection (%s): start the server, correct %s, or check the network", op.Err, s.endpoint)
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not use TLS: write http:// in " + s.endpoint + ", or give the server a certificate"
	case errors.Is(err, errNotS3):
		return errNotS3.Error() + ": correct " + s.endpoint
	case errors.As(err, &slow):
		return slow.Error() + ": check its log, or the network"
	case errors.As(err, &req):
		return fmt.Sprintf("the connection was interrupted (%s): check the server's log, or the network",
			plain(req.Err.Error()))
	case errors.As(err, &call):
		return plain(call.Err.Error())
	}
	return plain(err.Error())
}

// explainAnswer explains an error response of the server.
func (s *S3) explainAnswer(err error) string {
	answer := fmt.Sprintf("%d %s", status(err), http.StatusText(status(err)))
	var api smithy.APIError
	// If the response is not the XML of an S3 error, the SDK derives a code from the status.
	spoken := errors.As(err, &api) && api.ErrorCode() != "UnknownError" &&
		api.ErrorMessage() != http.StatusText(status(err))
	if spoken {
		answer = plain(fmt.Sprintf("%d %s: %s", status(err), api.ErrorCode(), api.ErrorMessage()))
	}
	switch c := code(err); {
	case c == "NoSuchBucket":
		return fmt.Sprintf("bucket %s does not exist there: create it, or correct STORAGE_URL", s.bucket)
	case c == "InvalidAccessKeyId", c == "XAdminUserNotFound": // the latter comes from versitygw
		return "the server does not know this access key: correct AWS_ACCESS_KEY_ID"
	case c == "SignatureDoesNotMatch":
		return "the secret key does not belong to the access key: correct AWS_SECRET_ACCESS_KEY"
	case c == "ExpiredToken", c == "InvalidToken":
		return "the session token has expired: renew the AWS_* credentials"
	case c == "RequestTimeTooSkewed":
		return "the clocks of this machine and the server differ: set the clock"
	case c == "PermanentRedirect", c == "AuthorizationHeaderMalformed", status(err) == http.StatusMovedPermanently:
		return fmt.Sprintf("the bucket is in another region than %s (%s): correct %s",
			s.client.Options().Region, answer, s.region)
	case status(err) == http.StatusForbidden:
		return fmt.Sprintf("access denied (%s): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may "+
			"get, put and list objects", answer)
	case status(err) == http.StatusNotImplemented:
		return fmt.Sprintf("the server does not support this operation (%s): use another S3 server", answer)
	case status(err) == http.StatusInsufficientStorage, c == "QuotaExceeded", c == "XMinioStorageFull":
		return fmt.Sprintf("the server's disk is full (%s): free disk space there", answer)
	case status(err) == http.StatusServiceUnavailable, status(err) == http.StatusTooManyRequests:
		return fmt.Sprintf("the server is overloaded or unavailable (%s): try again later, or with fewer workers", answer)
	case status(err) >= 500:
		return fmt.Sprintf("the server has an internal error (%s): check its log, or try again later", answer)
	case !spoken:
		return fmt.Sprintf("the answer is not that of an S3 server (%s): correct %s", answer, s.endpoint)
	}
	return "the server answers " + answer
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

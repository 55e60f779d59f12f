package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

// Reasons why the client refuses a request.
const (
	RefusedScheme   = "scheme"   // not an http or https address
	RefusedAddress  = "address"  // the host's address is not public, or the port is not 80 or 443
	RefusedRobots   = "robots"   // robots.txt excludes it
	RefusedType     = "type"     // the content type is not accepted
	RefusedSize     = "size"     // the body is too large, compressed or decompressed
	RefusedRedirect = "redirect" // too many redirects, or an invalid target
	RefusedEncoding = "encoding" // the body has a content encoding that was not requested
)

// RefusedError means that the client refused to fetch something.
type RefusedError struct {
	Reason string // one of the Refused... constants
	URL    string // without credentials and query
	Detail string // why, for a person or a model
}

// Error returns the address and the detail.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is not fetched: %s", e.URL, e.Detail)
}

// StatusError is a response with a status outside 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // requested by the server; 0 means none
	Host       string
	// start of the server's message: one line of plain text without the request's credentials; may be empty
	Snippet string
}

// Error returns the host, the status and the server's message.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.Host, e.Status, http.StatusText(e.Status))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", with Retry-After %s", e.RetryAfter.Round(time.Second))
	}
	if e.Snippet != "" {
		text += ": " + e.Snippet
	}
	return text
}

// Words says what an error of Client.Do means, for a model: a part of a sentence about the site.
func Words(err error) string {
	var status *StatusError
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Detail
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case !errors.As(err, &status):
		return "it cannot be reached, or its answer broke off"
	}
	switch code := status.Status; {
	case code == http.StatusNotFound, code == http.StatusGone:
		return fmt.Sprintf("there is no such page, %d", code)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusPaymentRequired,
		code == http.StatusUnavailableForLegalReasons:
		return fmt.Sprintf("it is not for programs, or only for subscribers, %d", code)
	case code == http.StatusTooManyRequests:
		return "it has been asked too often, 429"
	case code >= 500:
		return fmt.Sprintf("it has a failure, %d", code)
	default:
		return fmt.Sprintf("it answers %d", code)
	}
}

// longestRest is the maximum RetryAfter.
const longestRest = 7 * 24 * time.Hour

// Limits for reading and showing error pages.
const (
	maxErrorPage = 16 << 10
	maxSnippet   = 200 // bytes
)

func statusError(resp *http.Response, r Request, address *url.URL) error {
	e := &StatusError{Status: resp.StatusCode, RetryAfter: retry.After(resp.Header, time.Now(), longestRest),
		Host: address.Hostname()}
	if body, err := unpack(resp); err == nil {
		text, _ := io.ReadAll(io.LimitReader(body, maxErrorPage)) // a partial text is enough
		e.Snippet = snippet(string(text), secrets(r, address))
	}
	return e
}

// secrets returns the parts of a request that may be credentials: values of headers and of the query, user name and
// password.
func secrets(r Request, address *url.URL) []string {
	var out []string
	add := func(s string) {
		if len(s) >= 6 { // shorter values may be ordinary words
			out = append(out, s)
		}
	}
	for name, values := range r.Header {
		if name == "Content-Type" || name == "Accept" || name == "Accept-Language" {
			continue
		}
		for _, v := range values {
			add(v)
			for _, word := range strings.Fields(v) { // Bearer KEY
				add(word)
			}
		}
	}
	for _, values := range address.Query() {
		for _, v := range values {
			add(v)
			add(url.QueryEscape(v))
		}
	}
	if address.User != nil {
		add(address.User.Username()) // often the key itself
		password, _ := address.User.Password()
		add(password)
	}
	return out
}

// snippet returns an error page as one line of plain text, with secrets redacted.
func snippet(page string, secrets []string) string {
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "[redacted]")
	}
	hidden := strings.NewReplacer(pairs...) // before and after, because markup may hide a secret, and be in one
	return topicqueue.Clip(hidden.Replace(topicqueue.OneLine(webpage.Plain(hidden.Replace(page)))), maxSnippet)
}

// Redact returns an address for display and logs: without user, query and fragment.
func Redact(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "an invalid address"
	}
	return redact(u)
}

func redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.Opaque != "" {
		return u.Scheme + ":[redacted]"
	}
	if u.RawQuery != "" {
		return shown.String() + "?[redacted]"
	}
	return shown.String()
}

package fetch

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

// Why a request was refused on this side.
const (
	RefusedScheme   = "scheme"   // not an http or https address
	RefusedAddress  = "address"  // the host's address is not public, or the port not one of the web
	RefusedRobots   = "robots"   // robots.txt excludes it
	RefusedType     = "type"     // the content is of a type that is not wanted
	RefusedSize     = "size"     // the body is too large, packed or unpacked
	RefusedRedirect = "redirect" // too many redirects, or one that leads nowhere
	RefusedEncoding = "encoding" // the body is packed in a way that was not asked for
)

// RefusedError says that something was not fetched because it must not be.
type RefusedError struct {
	Reason string // one of the Refused... constants
	URL    string // without credentials and query
	Detail string // why, for a person or a model
}

// Error returns what was refused and why.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is not fetched: %s", e.URL, e.Detail)
}

// StatusError is an answer with a status outside of 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // that the server asks for; 0 = it does not
	Host       string
	// start of what the server said, one line of plain text without the request's credentials; may be empty
	Snippet string
}

// Error returns the host, the status and what the server said.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.Host, e.Status, http.StatusText(e.Status))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", asks to come back in %s", e.RetryAfter.Round(time.Second))
	}
	if e.Snippet != "" {
		text += ": " + e.Snippet
	}
	return text
}

// longestRest is the longest time that a server may ask to be left alone.
const longestRest = 7 * 24 * time.Hour

// Limits of what is read and shown of an error page.
const (
	maxErrorPage = 16 << 10
	maxSnippet   = 200 // characters
)

func statusError(resp *http.Response, r Request, address *url.URL) error {
	e := &StatusError{Status: resp.StatusCode, RetryAfter: retry.After(resp.Header, time.Now(), longestRest),
		Host: address.Hostname()}
	if body, err := unpack(resp); err == nil {
		text, _ := io.ReadAll(io.LimitReader(body, maxErrorPage)) // what could be read says enough
		e.Snippet = snippet(string(text), secrets(r, address))
	}
	return e
}

// secrets returns what of a request may be a credential: values of headers and of the query, and the user's name and
// password.
func secrets(r Request, address *url.URL) []string {
	var out []string
	add := func(s string) {
		if len(s) >= 6 { // shorter ones are words of the text
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
		password, _ := address.User.Password()
		add(password)
	}
	return out
}

// snippet makes one line of plain text of an error page.
func snippet(page string, secrets []string) string {
	page = strings.ToValidUTF8(page, "")
	for _, s := range secrets {
		page = strings.ReplaceAll(page, s, "[redacted]")
	}
	var b strings.Builder
	inTag := false
	for _, c := range page {
		switch {
		case c == '<':
			inTag = true
			b.WriteByte(' ')
		case c == '>' && inTag:
			inTag = false
		case !inTag:
			b.WriteRune(c)
		}
	}
	line := []rune(topicqueue.OneLine(b.String()))
	if len(line) > maxSnippet {
		return string(line[:maxSnippet]) + "..."
	}
	return string(line)
}

// Redact returns an address as it may be shown and logged: without user, query and fragment.
func Redact(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "an address that cannot be read"
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

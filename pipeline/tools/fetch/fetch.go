// Package fetch is the way to the outside: every request to the web and to search providers goes through a Client.
//
// It reaches public addresses only, but for what the operator allows; it ends in time and within bounds whatever a
// server sends; it is polite to sites (robots.txt, a rate per host that all workers share). What it will not do is a
// *RefusedError, what a server will not do a *StatusError. It knows nothing of what is in a page.
//
// A service that the operator runs has a Client of its own, whose Settings.Allow names that service alone: then no
// page and no model can lead there.
//
// Start with New and Client.Do.
package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Defaults of Settings.
const (
	defaultTimeout      = 30 * time.Second
	defaultMaxBytes     = 20 << 20
	defaultMaxRedirects = 5
	defaultUserAgent    = "nightdesk/1.0 (research; respects robots.txt)"
	defaultPerHost      = time.Second
	defaultIdle         = 100
)

// Pace keeps a rate that all workers share.
type Pace interface {
	// Wait returns when the caller's turn under this key has come: turns are at least every apart. It fails at once
	// when that would be after ctx's deadline; then the error wraps context.DeadlineExceeded, and the turn is not
	// used up.
	Wait(ctx context.Context, key string, every time.Duration) error
}

// Settings of a Client. A zero value means the default.
type Settings struct {
	// Allow lists what may be reached although its address is not public or its port is neither 80 nor 443: a host, an
	// address or a network (10.1.0.0/16), the first two with a port or, for all its ports, without.
	Allow        []string
	Timeout      time.Duration // of one Do with all redirects, waiting for its turn, and the last byte of the body
	MaxBytes     int64         // of a body, packed and unpacked
	MaxRedirects int
	UserAgent    string        // its first word up to a slash is the name that robots.txt may address
	PerHost      time.Duration // between requests for pages of one host
	Pace         Pace          // nil: the rate of this process alone
	Idle         int           // connections that are kept for the next request
}

// Request is one request.
type Request struct {
	Method   string // empty: GET
	URL      string // absolute, http or https
	Header   http.Header
	Body     []byte
	Accept   []string // media types that are wanted, text/* for all of a kind; empty: any
	MaxBytes int64    // as in Settings; 0: those
	// Robots marks a page of somebody's site, in contrast to a service that wants to be asked: robots.txt is respected,
	// and requests to its host keep Settings.PerHost.
	Robots bool
	// Known makes the request a conditional one: when the page is still this version, the answer has status 304 and no
	// body. It is not said to other origins that the page redirects to.
	Known Version
}

// Version names a version of a page as its server did: ETag and Last-Modified. The zero value names none.
type Version struct{ ETag, LastModified string }

// maxValidator bounds what is kept of a server's name for a version, in bytes; a longer one is none.
const maxValidator = 256

// Version returns how the server calls the version of the page that it has sent.
func (r Response) Version() Version {
	kept := func(name string) string {
		if v := strings.TrimSpace(r.Header.Get(name)); len(v) <= maxValidator && utf8.ValidString(v) {
			return v
		}
		return ""
	}
	return Version{kept("Etag"), kept("Last-Modified")}
}

// Response is a complete answer with a status of 2xx, or of 304 where Request.Known was given.
type Response struct {
	Status  int
	Header  http.Header
	Body    []byte // unpacked
	URL     string // that was answered, after redirects
	Type    string // media type, lower case; found out from the body where the server gives none
	Charset string // as the server says; empty: it does not
}

// Client makes requests. Safe for concurrent use.
type Client struct {
	settings  Settings
	transport *http.Transport // not an http.Client, which follows redirects and tells of whole addresses
	robots    robotsCache
}

// New returns a client. An entry of Settings.Allow that CheckAllow refuses allows nothing.
func New(s Settings) *Client {
	return newClient(s, nil)
}

func newClient(s Settings, resolver *net.Resolver) *Client {
	s.Timeout = cmp.Or(s.Timeout, defaultTimeout)
	s.MaxBytes = cmp.Or(s.MaxBytes, defaultMaxBytes)
	s.MaxRedirects = cmp.Or(s.MaxRedirects, defaultMaxRedirects)
	s.UserAgent = cmp.Or(s.UserAgent, defaultUserAgent)
	s.PerHost = cmp.Or(s.PerHost, defaultPerHost)
	s.Idle = cmp.Or(s.Idle, defaultIdle)
	if s.Pace == nil {
		s.Pace = &localPace{}
	}
	guard := newGuard(s.Allow, resolver)
	return &Client{settings: s, transport: &http.Transport{
		Proxy:                  nil, // a proxy would resolve and dial for us, unguarded
		DialContext:            guard.dial,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // unpacked here, within bounds
		TLSHandshakeTimeout:    15 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           s.Idle,
		MaxResponseHeaderBytes: 256 << 10,
	}}
}

// Close ends idle connections. The client can still be used.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do makes a request and follows redirects of GET and HEAD; headers of the request do not go to another origin.
//
// The error is a *StatusError, a *RefusedError, context.Cause(ctx) when ctx has ended, or wraps
// context.DeadlineExceeded when Settings.Timeout is over; anything else is a failure of the network. No error holds a
// credential.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	address, err := parse(r.URL)
	if err != nil {
		return Response{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	response, err := c.follow(limited, r, address)
	var status *StatusError
	var refused *RefusedError
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil:
		return Response{}, context.Cause(ctx)
	case errors.As(err, &status) || errors.As(err, &refused):
		// known, though the rest of the answer may not have come in time
	case limited.Err() != nil:
		return Response{}, fmt.Errorf("fetch %s: no complete answer within %s: %w", Redact(r.URL), c.settings.Timeout,
			context.DeadlineExceeded)
	}
	return Response{}, err
}

// follow makes a request and those that its answers redirect to.
func (c *Client) follow(ctx context.Context, r Request, address *url.URL) (Response, error) {
	start := address
	for hops := 0; ; hops++ {
		if r.Robots {
			if err := c.admit(ctx, address); err != nil {
				return Response{}, err
			}
		}
		response, next, err := c.exchange(ctx, r, address, sameOrigin(start, address))
		if err != nil || next == nil {
			return response, err
		}
		if hops == c.settings.MaxRedirects {
			return Response{}, &RefusedError{RefusedRedirect, redact(start),
				fmt.Sprintf("it redirects more than %d times", hops)}
		}
		address = next
	}
}

// admit respects the site: what its robots.txt says, and the rate of its host.
func (c *Client) admit(ctx context.Context, address *url.URL) error {
	rules, err := c.rules(ctx, address)
	if err != nil {
		return err
	}
	if !rules.allow(address) {
		return &RefusedError{RefusedRobots, redact(address), "the site's robots.txt asks programs not to read this page"}
	}
	host := address.Hostname()
	if err := c.settings.Pace.Wait(ctx, "host:"+host, max(c.settings.PerHost, rules.delay)); err != nil {
		return fmt.Errorf("wait for the turn of a request to %s: %w", host, err)
	}
	return nil
}

// exchange makes one request. next is where a redirect leads. own: the address is of the origin that r was meant for.
func (c *Client) exchange(ctx context.Context, r Request, address *url.URL,
	own bool) (_ Response, next *url.URL, err error) {
	method := cmp.Or(r.Method, http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, nil, fmt.Errorf("fetch %s: the request is not a valid one", redact(address))
	}
	if own {
		req.Header = r.Header.Clone()
		if req.Header == nil {
			req.Header = http.Header{}
		}
	}
	if user := address.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	if own && r.Known.ETag != "" {
		req.Header.Set("If-None-Match", r.Known.ETag)
	}
	if own && r.Known.LastModified != "" {
		req.Header.Set("If-Modified-Since", r.Known.LastModified)
	}
	req.Header.Set("User-Agent", c.settings.UserAgent)
	req.Header.Set("Accept-Encoding", "gzip")
	if len(r.Accept) > 0 {
		req.Header.Set("Accept", strings.Join(r.Accept, ", "))
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return Response{}, nil, reason(err, address)
	}
	defer resp.Body.Close()
	if location := resp.Header.Get("Location"); location != "" && isRedirect(resp.StatusCode) &&
		(method == http.MethodGet || method == http.MethodHead) {
		if next, err = address.Parse(location); err != nil {
			return Response{}, nil, &RefusedError{RefusedRedirect, redact(address),
				"it redirects to something that is no address"}
		}
		next.User, next.Fragment = nil, ""
		if sameOrigin(address, next) { // those of its own address are the server's to give to nobody
			next.User = address.User
		}
		return Response{}, next, checkURL(next)
	}
	if resp.StatusCode == http.StatusNotModified && own && r.Known != (Version{}) {
		shown := *address
		shown.User = nil
		return Response{Status: resp.StatusCode, Header: resp.Header, URL: shown.String()}, nil, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Response{}, nil, statusError(resp, r, address)
	}
	response, err := c.read(resp, r, address)
	return response, nil, err
}

// read reads the answer.
func (c *Client) read(resp *http.Response, r Request, address *url.URL) (Response, error) {
	shown := *address
	shown.User = nil
	out := Response{Status: resp.StatusCode, Header: resp.Header, URL: shown.String()}
	// of a malformed one the type is still given
	kind, parameters, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	out.Type, out.Charset = kind, strings.ToLower(parameters["charset"])
	unsaid := kind == "" || kind == "application/octet-stream" || kind == "binary/octet-stream"
	if !unsaid && !accepts(r.Accept, kind) {
		return Response{}, refusedType(address, kind)
	}
	body, err := readBody(resp, cmp.Or(r.MaxBytes, c.settings.MaxBytes), address)
	if err != nil {
		return Response{}, err
	}
	if unsaid && len(body) > 0 {
		if out.Type, _, _ = mime.ParseMediaType(http.DetectContentType(body)); !accepts(r.Accept, out.Type) {
			return Response{}, refusedType(address, out.Type)
		}
	}
	out.Body = body
	return out, nil
}

// accepts reports whether a media type is one of those that are wanted.
func accepts(wanted []string, kind string) bool {
	for _, w := range wanted {
		w, _, _ = strings.Cut(strings.ToLower(w), ";")
		if family, all := strings.CutSuffix(w, "*"); w == kind || w == "*/*" || all && strings.HasPrefix(kind, family) {
			return true
		}
	}
	return len(wanted) == 0
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// sameOrigin reports whether two addresses have scheme, host and port in common: then what is secret may go there too.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// parse reads an address that may be fetched.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, &RefusedError{RefusedScheme, Redact(address), "this is not the address of a web page"}
	}
	u.Fragment = ""
	return u, checkURL(u)
}

// checkURL tells what could never be fetched. What the host's address is, is seen when it is dialled.
func checkURL(u *url.URL) error {
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{RefusedScheme, redact(u), "only http and https addresses are fetched"}
	}
	if u.Hostname() == "" {
		return &RefusedError{RefusedScheme, redact(u), "the address has no host"}
	}
	return nil
}

// reason says what failed, without what is secret in the address.
func reason(err error, address *url.URL) error {
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return &RefusedError{refused.Reason, redact(address), refused.Detail}
	}
	return fmt.Errorf("fetch %s: %w", redact(address), err)
}

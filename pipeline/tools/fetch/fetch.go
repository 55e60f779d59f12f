// Package fetch makes all requests to the web and to search providers, each through a Client.
//
// A Client reaches only public addresses, and those that the operator allows. Its requests are limited in time and
// size, whatever a server sends. It is polite to sites: it respects robots.txt and keeps a rate per host that all
// workers share. A request that the Client refuses is a *RefusedError, one that a server refuses a *StatusError. The
// package does not interpret page content.
//
// A service that the operator runs has its own Client, whose Settings.Allow names only that service. Neither pages nor
// models can reach it through another Client.
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
	defaultTimeout  = 30 * time.Second
	defaultMaxBytes = 20 << 20
	maxRedirects    = 5
	// The first word, up to a slash, is the name to match in robots.txt.
	userAgent = "nightdesk/1.0 (research; respects robots.txt)"
	// A site sees one page request per second, which is what a careful reader would make.
	defaultPerHost = time.Second
	ownPerHost     = 10 * time.Millisecond
	defaultIdle    = 100
)

// Pace limits a rate across all workers.
type Pace interface {
	// Wait blocks until the caller's turn under this key; turns are at least every apart. If the turn would be after
	// ctx's deadline, Wait fails immediately with an error that wraps context.DeadlineExceeded, and the turn is not
	// used.
	Wait(ctx context.Context, key string, every time.Duration) error
}

// Settings configures a Client. A zero field means the default.
type Settings struct {
	// Allow lists hosts that may be reached even if their address is not public or its port is neither 80 nor 443. An
	// entry is a host or an address, with a port or, for all ports, without, or a network (10.1.0.0/16).
	Allow []string
	// Own lists, in the same form, the hosts whose operator is the user. They are asked without the politeness that
	// other people's sites deserve.
	Own      []string
	Timeout  time.Duration // of one Do, including redirects, waiting for its turn, and reading the body
	MaxBytes int64         // of a body, compressed and decompressed
	PerHost  time.Duration // time between page requests to one host; default: 1 s, and 10 ms for Own
	Pace     Pace          // if nil, the rate is per process
	Idle     int           // maximum number of idle connections
}

// Doer makes requests; *Client implements it.
type Doer interface {
	Do(ctx context.Context, r Request) (Response, error)
}

// Request is a request to a server.
type Request struct {
	Method   string // empty means GET
	URL      string // absolute, http or https
	Header   http.Header
	Body     []byte
	Accept   []string // accepted media types, text/* for all text types; empty means any
	MaxBytes int64    // as in Settings; 0 means that of Settings
	// Robots marks a request for a page of a web site, as opposed to a service made for programs. Such requests respect
	// robots.txt and keep Settings.PerHost.
	Robots bool
	// Known makes the request conditional: if the page still has this version, the response has status 304 and no body.
	// Known is not sent to other origins after a redirect.
	Known Version
}

// Version identifies a version of a page by the server's ETag and Last-Modified. The zero value means no version.
type Version struct{ ETag, LastModified string }

// maxValidator is the maximum size of an ETag or Last-Modified value, in bytes. Longer values are ignored.
const maxValidator = 256

// Version returns the version of the page in the response.
func (r Response) Version() Version {
	kept := func(name string) string {
		if v := strings.TrimSpace(r.Header.Get(name)); len(v) <= maxValidator && utf8.ValidString(v) {
			return v
		}
		return ""
	}
	return Version{kept("Etag"), kept("Last-Modified")}
}

// Response is a complete response with status 2xx, or 304 if Request.Known was given.
type Response struct {
	Status  int
	Header  http.Header
	Body    []byte // decompressed
	URL     string // final address, after redirects
	Type    string // media type, lower case; detected from the body if the server gives none
	Charset string // as given by the server, lower case; may be empty
}

// Client makes requests. Safe for concurrent use.
type Client struct {
	settings  Settings
	transport *http.Transport // not an http.Client, which follows redirects and reports whole addresses
	robots    robotsCache
	own       *guard // knows the hosts of Settings.Own
}

// New returns a client. It ignores entries of Settings.Allow that CheckAllow rejects.
func New(s Settings) *Client {
	return newClient(s, nil)
}

func newClient(s Settings, resolver *net.Resolver) *Client {
	s.Timeout = cmp.Or(s.Timeout, defaultTimeout)
	s.MaxBytes = cmp.Or(s.MaxBytes, defaultMaxBytes)
	s.Idle = cmp.Or(s.Idle, defaultIdle)
	if s.Pace == nil {
		s.Pace = &localPace{}
	}
	guard := newGuard(s.Allow, resolver)
	return &Client{settings: s, own: newGuard(s.Own, resolver), transport: &http.Transport{
		Proxy:                  nil, // a proxy would resolve and dial without the guard
		DialContext:            guard.dial,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // decompressed here, within limits
		TLSHandshakeTimeout:    15 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           s.Idle,
		MaxResponseHeaderBytes: 256 << 10,
	}}
}

// Close closes idle connections. The client can still be used.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do makes a request and follows redirects of GET and HEAD. Headers of the request are not sent to other origins.
//
// The error is a *StatusError or a *RefusedError, context.Cause(ctx) if ctx has ended, or wraps
// context.DeadlineExceeded after Settings.Timeout. Any other error is a network failure. Errors contain no credentials.
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
		// the outcome is known, even if the rest of the response was late
	case limited.Err() != nil:
		return Response{}, fmt.Errorf("fetch %s: no complete answer within %s: %w", Redact(r.URL), c.settings.Timeout,
			context.DeadlineExceeded)
	}
	return Response{}, err
}

// follow makes a request and follows its redirects.
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
		if hops == maxRedirects {
			return Response{}, &RefusedError{RefusedRedirect, redact(start),
				fmt.Sprintf("it redirects more than %d times", hops)}
		}
		address = next
	}
}

// admit enforces the site's robots.txt and the rate of its host.
func (c *Client) admit(ctx context.Context, address *url.URL) error {
	rules, err := c.rules(ctx, address)
	if err != nil {
		return err
	}
	if !rules.allow(address) {
		return &RefusedError{RefusedRobots, redact(address), "the site's robots.txt asks programs not to read this page"}
	}
	host, every := address.Hostname(), cmp.Or(c.settings.PerHost, defaultPerHost)
	if c.settings.PerHost == 0 && c.own.names(host) {
		every = ownPerHost
	}
	if err := c.settings.Pace.Wait(ctx, "host:"+host, max(every, rules.delay)); err != nil {
		return fmt.Errorf("wait for the turn of a request to %s: %w", host, err)
	}
	return nil
}

// exchange makes one request. next is the target of a redirect. own: the address has the origin of the original
// request.
func (c *Client) exchange(ctx context.Context, r Request, address *url.URL,
	own bool) (_ Response, next *url.URL, err error) {
	method := cmp.Or(r.Method, http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, nil, fmt.Errorf("fetch %s: the request is not valid", redact(address))
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
	req.Header.Set("User-Agent", userAgent)
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
				"it redirects to an invalid address"}
		}
		next.User, next.Fragment = nil, ""
		if sameOrigin(address, next) { // credentials in a redirect's address are ignored
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

// read checks the type of a response and reads its body.
func (c *Client) read(resp *http.Response, r Request, address *url.URL) (Response, error) {
	shown := *address
	shown.User = nil
	out := Response{Status: resp.StatusCode, Header: resp.Header, URL: shown.String()}
	// a malformed header still gives the type
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

// accepts reports whether a media type is among the wanted ones. An empty list accepts all.
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

// sameOrigin reports whether two addresses have the same scheme, host and port, so that both may receive secrets.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// parse parses an address and checks that it may be fetched.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, &RefusedError{RefusedScheme, Redact(address), "not the address of a web page"}
	}
	u.Fragment = ""
	return u, checkURL(u)
}

// checkURL rejects addresses that can never be fetched. The host's IP address is checked when it is dialled.
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

// reason returns err with the address added, without secrets.
func reason(err error, address *url.URL) error {
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return &RefusedError{refused.Reason, redact(address), refused.Detail}
	}
	return fmt.Errorf("fetch %s: %w", redact(address), err)
}

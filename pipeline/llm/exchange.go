package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"nightdesk/topicqueue/retry"
)

const maxBody = 16 << 20 // bytes of an answer; the longest report section is below 1 MB

var errBodyTooLarge = fmt.Errorf("the answer is larger than %d MB", maxBody>>20)

// exchange is one HTTP request and what came of it. It travels in the request's context past langchaingo, which can
// neither send every field nor return status, Retry-After and usage.
type exchange struct {
	set    map[string]any // fields merged into the JSON body
	unset  []string       // fields removed from it
	noAuth bool           // there is no key: do not send the one that langchaingo insists on
	bearer string         // key that langchaingo does not send; empty = none
	wanted string         // what the answer should be, for a person

	// read takes a body with status 200 and returns what langchaingo is to see of it.
	read func(body []byte) (forward []byte, err error)

	asked      *url.URL
	status     int
	location   string        // from the answer's headers
	retryAfter time.Duration // from them, too
	body       []byte        // whole
	answer     wireAnswer    // of a body with status 200
	err        error         // no answer: transport, time or size
}

type exchangeKey struct{}

// transport is the http.RoundTripper below langchaingo.
type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ex, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return t.base.RoundTrip(req)
	}
	resp, err := ex.send(t.base, req)
	if err != nil {
		ex.err = err
		return nil, err
	}
	return resp, nil
}

func (ex *exchange) send(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	body, err := ex.requestBody(req)
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	// for a retry on a stale connection
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Header.Set("Accept", "application/json")
	if ex.noAuth {
		out.Header.Del("Authorization")
		out.Header.Del("X-Api-Key")
	}
	if ex.bearer != "" {
		out.Header.Set("Authorization", "Bearer "+ex.bearer)
	}
	resp, err := base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	ex.asked, ex.status, ex.location = req.URL, resp.StatusCode, resp.Header.Get("Location")
	ex.retryAfter = retry.After(resp.Header, time.Now(), longestRest)
	ex.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(ex.body) > maxBody:
		ex.body = nil
		return nil, errBodyTooLarge
	}
	forward := ex.body
	if ex.status == http.StatusOK {
		if forward, err = ex.read(ex.body); err != nil {
			return nil, err
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(forward))
	resp.ContentLength = int64(len(forward))
	return resp, nil
}

// requestBody returns the body with the exchange's fields in it. Nested values stay byte for byte: the order of a
// schema's properties is the order in which a model writes.
func (ex *exchange) requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, errors.New("model request without a body")
	}
	defer req.Body.Close()
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the model request: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the model request: %w", err)
	}
	for _, name := range ex.unset {
		delete(fields, name)
	}
	for name, value := range ex.set {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("encode %s of the model request: %w", name, err)
		}
	}
	return json.Marshal(fields)
}

// exchanging returns a client like this one, nil for a sensible one, whose requests are exchanges.
func exchanging(client *http.Client) *http.Client {
	if client == nil {
		client = NewHTTPClient(64)
	}
	below := *client
	if below.Transport == nil {
		below.Transport = http.DefaultTransport
	}
	below.Transport = transport{base: below.Transport}
	below.Timeout = 0 // every try has its own
	// A redirected POST arrives as a GET or carries the key elsewhere: neither is wanted.
	below.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &below
}

func withExchange(ctx context.Context, ex *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, ex)
}

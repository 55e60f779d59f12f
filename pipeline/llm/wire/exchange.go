// Package wire is the HTTP layer below langchaingo. It adds request fields that langchaingo cannot send, and reads
// parts of an answer that langchaingo does not return. Start reading with Exchange; read.go lists these parts and the
// reasons.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nightdesk/topicqueue/retry"
)

const maxBody = 16 << 20 // bytes of an answer; the longest report section is below 1 MB

// ErrBodyTooLarge is the error for an answer above the size limit.
var ErrBodyTooLarge = fmt.Errorf("the answer is larger than %d MB", maxBody>>20)

// longestRest is the maximum Retry-After that is honoured.
const longestRest = 7 * 24 * time.Hour

// Exchange is one HTTP request and its result. It travels in the request's context past langchaingo, which can
// neither send every field nor return status, Retry-After and usage. The caller fills in the first part.
type Exchange struct {
	Set     map[string]any                       // fields merged into the JSON body
	Unset   []string                             // fields removed from it
	NoAuth  bool                                 // do not send the placeholder key that langchaingo requires
	NotSent string                               // end of langchaingo's path that is not sent
	Wanted  string                               // description of the expected answer, for display
	Add     func(said *Said, piece []byte) error // adds an object of the answer with status 200
	Heard   func(text, arguments string)         // receives additions while they arrive; may be nil

	Status     int           // 0: nothing was sent
	RetryAfter time.Duration // from the answer's headers
	Body       []byte        // complete; with status 200, what langchaingo gets
	Said       Said          // from a body with status 200
	Err        error         // no answer, because of transport, time or size

	asked    *url.URL
	location string // from the answer's headers
}

type exchangeKey struct{}

// transport is the http.RoundTripper below langchaingo.
type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ex, ok := req.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		return t.base.RoundTrip(req)
	}
	resp, err := ex.send(t.base, req)
	if err != nil {
		ex.Err = err
		return nil, err
	}
	return resp, nil
}

func (ex *Exchange) send(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	body, err := ex.requestBody(req)
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	// Allow a retry on a stale connection.
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Header.Set("Accept", "application/json")
	if ex.Heard != nil {
		out.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	}
	if ex.NoAuth {
		out.Header.Del("Authorization")
		out.Header.Del("X-Api-Key")
	}
	out.URL.Path = strings.TrimSuffix(out.URL.Path, ex.NotSent)
	resp, err := base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	ex.head(out, resp)
	if ex.Status != http.StatusOK {
		err = ex.readBody(resp.Body)
	} else if err = ex.readAnswer(resp.Body); ex.Said.Failure != nil {
		ex.Body = Encode(map[string]any{"error": ex.Said.Failure})
	} else {
		ex.Body = ex.Said.forLangchaingo()
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(ex.Body))
	resp.ContentLength = int64(len(ex.Body))
	return resp, nil
}

// requestBody returns the body with the exchange's fields added. Nested values stay byte for byte, because a model
// writes in the order of a schema's properties.
func (ex *Exchange) requestBody(req *http.Request) ([]byte, error) {
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
	for _, name := range ex.Unset {
		delete(fields, name)
	}
	for name, value := range ex.Set {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("encode %s of the model request: %w", name, err)
		}
	}
	return json.Marshal(fields)
}

// head stores the answer's status and headers.
func (ex *Exchange) head(req *http.Request, resp *http.Response) {
	ex.asked, ex.Status, ex.location = req.URL, resp.StatusCode, resp.Header.Get("Location")
	ex.RetryAfter = retry.After(resp.Header, time.Now(), longestRest)
}

// Client returns a copy of client whose requests are exchanges.
func Client(client *http.Client) *http.Client {
	below := *client
	if below.Transport == nil {
		below.Transport = http.DefaultTransport
	}
	below.Transport = transport{base: below.Transport}
	below.Timeout = 0 // every try has its own timeout
	// A redirected POST would arrive as a GET or send the key elsewhere, so redirects are not followed.
	below.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &below
}

// With returns a context that makes its request this exchange.
func With(ctx context.Context, ex *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, ex)
}

// Fetch sends a request without langchaingo. With status 200, read checks the answer; kind is its media type.
// wanted: see Exchange.
func Fetch(client *http.Client, req *http.Request, wanted string,
	read func(ex *Exchange, kind string) error) *Exchange {
	ex := &Exchange{Wanted: wanted}
	resp, err := client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		ex.head(req, resp)
		err = ex.readBody(resp.Body)
	}
	if err == nil && ex.Status == http.StatusOK {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		err = read(ex, kind)
	}
	var outer *url.Error
	if errors.As(err, &outer) { // it would include the full address
		err = outer.Err
	}
	ex.Err = err
	return ex
}

// readBody reads a whole body.
func (ex *Exchange) readBody(body io.Reader) (err error) {
	ex.Body, err = io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case len(ex.Body) > maxBody:
		ex.Body = nil
		return ErrBodyTooLarge
	}
	return nil
}

// Object checks that the answer to a Fetch begins with a JSON object.
func Object(ex *Exchange, _ string) (err error) {
	ex.Body, err = jsonObject(ex.Body)
	return err
}

// Sound checks that the answer to a Fetch is not text.
func Sound(ex *Exchange, kind string) error {
	switch {
	case len(ex.Body) == 0:
		return &Foreign{What: "an empty body"}
	case strings.HasPrefix(kind, "text/") || kind == "application/json":
		return &Foreign{What: kind + " " + excerpt(ex.Body), Page: kind == "text/html"}
	}
	return nil
}

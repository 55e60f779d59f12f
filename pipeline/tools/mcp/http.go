package mcp

import (
	"fmt"
	"io"
	"net/http"
)

// headers adds headers to requests, and limits the size of response bodies.
type headers struct {
	header http.Header
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range h.header {
		req.Header[name] = values
	}
	resp, err := h.next.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{resp.Body, maxMessage}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the response has more than %d MB", maxMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

package mcp

import "net/http"

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
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxMessage)
	}
	return resp, err
}

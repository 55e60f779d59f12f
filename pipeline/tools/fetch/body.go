package fetch

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// unpack returns the decompressed body.
func unpack(resp *http.Response) (io.Reader, error) {
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(resp.Body)
	default:
		return nil, &RefusedError{Reason: RefusedEncoding,
			Detail: fmt.Sprintf("its content has the encoding %.40q, which was not requested", encoding)}
	}
}

// readBody reads a body of at most limit bytes, both compressed and decompressed.
func readBody(resp *http.Response, limit int64, address *url.URL) ([]byte, error) {
	tooLarge := &RefusedError{RefusedSize, redact(address), fmt.Sprintf("it is larger than %s", bytesText(limit))}
	if resp.ContentLength > limit {
		return nil, tooLarge
	}
	if resp.Request.Method == http.MethodHead || resp.ContentLength == 0 {
		return nil, nil
	}
	body, err := unpack(resp)
	if err != nil {
		return nil, reason(err, address)
	}
	data, err := io.ReadAll(io.LimitReader(body, limit+1)) // decompressing hardly ever shrinks data
	if int64(len(data)) > limit {
		return nil, tooLarge
	}
	if err != nil {
		return nil, reason(fmt.Errorf("the response is truncated after %s: %w", bytesText(int64(len(data))), err), address)
	}
	return data, nil
}

// bytesText returns a size in readable units.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.3g MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.3g KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func refusedType(address *url.URL, kind string) error {
	return &RefusedError{RefusedType, redact(address), fmt.Sprintf("its content is of type %.80q", kind)}
}

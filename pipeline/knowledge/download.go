package knowledge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract"
)

// Page is a web page as sent by its server.
type Page struct {
	Body     []byte
	Type     string // Content-Type header; empty if unknown
	Path     string // of the final address
	Modified time.Time
}

// Downloader fetches one page. The error wraps extract.ErrNoPage if the page does not exist. A Downloader must be safe
// for concurrent use.
type Downloader func(ctx context.Context, address string) (Page, error)

// SetDownloader sets the function with which Ingest fetches web pages. Call it before the base is used.
func (b *Base) SetDownloader(d Downloader) { b.download = d }

// IsURL reports whether a root is a web page. A web page is downloaded, and its address is the document's key.
func IsURL(root string) bool {
	return strings.HasPrefix(root, "http://") || strings.HasPrefix(root, "https://")
}

// PageKey returns the document key of a web page: its address without user and password, which are used only for the
// request. If the address cannot be parsed, PageKey returns an error that does not contain it.
func PageKey(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" { // the error of url.Parse would contain the address
		return "", errors.New("not the address of a web page")
	}
	u.User = nil
	return u.String(), nil
}

// gather lists the files below the roots that are directories or files, and the web pages among the roots, which are
// not downloaded yet. The results are those of walk.
func gather(ctx context.Context, roots []string) (files []source, skipped []Skipped, unread []string, err error) {
	var pages []source
	var paths []string
	known := map[string]bool{}
	for _, root := range roots {
		if !IsURL(root) {
			paths = append(paths, root)
			continue
		}
		key, err := PageKey(root)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("ingest: %w", err)
		}
		if !known[key] {
			known[key] = true
			pages = append(pages, source{key: key, address: root})
		}
	}
	if len(paths) > 0 || len(pages) == 0 {
		if files, skipped, unread, err = walk(ctx, paths); err != nil {
			return nil, nil, nil, err
		}
	}
	return append(files, pages...), skipped, unread, nil
}

// fetchPage downloads a page and fills in the fields that are already known for files on disk.
func (s *source) fetchPage(ctx context.Context, download Downloader) ([]byte, error) {
	if download == nil {
		return nil, errors.New("not downloaded: web pages cannot be fetched here")
	}
	p, err := download(ctx, s.address)
	if err != nil {
		return nil, fmt.Errorf("not downloaded: %w", err)
	}
	s.size, s.modified, s.contentType = int64(len(p.Body)), p.Modified, p.Type
	s.name = extract.SentName(p.Path, p.Type, p.Body)
	if s.modified.IsZero() {
		s.modified = time.Now()
	}
	return p.Body, nil
}

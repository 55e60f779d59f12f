package knowledge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract"
)

// Page is a page of the web as its server sent it.
type Page struct {
	Body     []byte
	Type     string // media type; empty: unknown
	Path     string // of the address that answered
	Modified time.Time
}

// Downloader fetches one page. The error wraps extract.ErrNoPage when the site has no such page. It is called by
// several goroutines.
type Downloader func(ctx context.Context, address string) (Page, error)

// SetDownloader makes Ingest fetch roots that are web pages by d. Call it before the base is used.
func (b *Base) SetDownloader(d Downloader) { b.download = d }

// IsURL reports a root that is a web page: it is downloaded, and its address is the document's key.
func IsURL(root string) bool {
	return strings.HasPrefix(root, "http://") || strings.HasPrefix(root, "https://")
}

// PageKey returns the key of the page at an address: the address without user and password, which are for the request
// alone. Of what cannot be read as an address nothing is returned.
func PageKey(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" { // the error would repeat the address
		return "", errors.New("not the address of a web page")
	}
	u.User = nil
	return u.String(), nil
}

// gather lists the files below roots that are directories and files, and the web pages among them, which are still to
// be downloaded. The results are those of walk.
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

// fetchPage downloads a page and fills in what a listed file has from the start.
func (s *source) fetchPage(ctx context.Context, download Downloader) ([]byte, error) {
	if download == nil {
		return nil, errors.New("not downloaded: web pages cannot be fetched here")
	}
	p, err := download(ctx, s.address)
	if err != nil {
		return nil, fmt.Errorf("not downloaded: %w", err)
	}
	s.size, s.modified, s.name = int64(len(p.Body)), p.Modified, p.fileName()
	if s.modified.IsZero() {
		s.modified = time.Now()
	}
	return p.Body, nil
}

// fileName returns a name whose extension fits the page's content: what the server says, else that of its address.
func (p Page) fileName() string {
	base := path.Base("/" + p.Path)
	ext := strings.ToLower(path.Ext(base))
	kind, named := extract.TypeOf(base)
	said, ok := extract.TypeOfMedia(p.Type)
	switch {
	case ok && said != kind && !(said == extract.TypeText && named): // servers of raw files call everything text/plain
		return strings.TrimSuffix(base, path.Ext(base)) + said.Extension()
	case len(ext) > 1 && len(ext) <= 5:
		return base
	}
	return base + extract.TypeHTML.Extension()
}

package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/knowledge/extract"
)

const (
	downloadTime = time.Minute // for one page, to its last byte
	downloads    = 4           // at the same time
)

// IsURL reports a root that is a web page: it is downloaded, and its address is the document's key.
func IsURL(root string) bool {
	return strings.HasPrefix(root, "http://") || strings.HasPrefix(root, "https://")
}

// gather lists the files below roots that are directories and files, and downloads those that are web pages into dir.
func gather(ctx context.Context, roots []string, dir string) (files []source, skipped []Skipped, unread []string, err error) {
	var pages, paths []string
	for _, root := range roots {
		if IsURL(root) {
			pages = append(pages, root)
		} else {
			paths = append(paths, root)
		}
	}
	if len(paths) > 0 || len(pages) == 0 {
		if files, skipped, unread, err = walk(ctx, paths); err != nil {
			return nil, nil, nil, err
		}
	}
	slices.Sort(pages)
	more, failed, missing, err := download(ctx, slices.Compact(pages), dir)
	return append(files, more...), append(skipped, failed...), append(unread, missing...), err
}

// download fetches pages into dir, each as a file with a fitting extension. A page that cannot be had is in skipped and
// its key in unread, so that what the base holds of it stays, unless the site says that there is none. The operator names the pages: any address is allowed.
func download(ctx context.Context, addresses []string, dir string) (files []source, skipped []Skipped, unread []string, err error) {
	client := &http.Client{Timeout: downloadTime}
	found := make([]source, len(addresses))
	failed := make([]error, len(addresses))
	var group errgroup.Group
	group.SetLimit(downloads)
	for i, address := range addresses {
		group.Go(func() error {
			found[i], failed[i] = downloadPage(ctx, client, address, filepath.Join(dir, strconv.Itoa(i)))
			return nil
		})
	}
	_ = group.Wait() // a page that fails is data
	if ctx.Err() != nil {
		return nil, nil, nil, context.Cause(ctx)
	}
	for i, address := range addresses {
		if failed[i] != nil {
			skipped = append(skipped, Skipped{Document: address, Reason: failed[i].Error()})
			if !errors.Is(failed[i], extract.ErrNoPage) {
				unread = append(unread, address)
			}
			continue
		}
		files = append(files, found[i])
	}
	return files, skipped, unread, nil
}

// downloadPage stores one page as the given file name with an extension.
func downloadPage(ctx context.Context, client *http.Client, address, name string) (source, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return source{}, errors.New("not an address")
	}
	req.Header.Set("User-Agent", "nightdesk (knowledge base)")
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/pdf, */*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text repeats the address
			err = failed.Err
		}
		return source{}, fmt.Errorf("not downloaded: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return source{}, fmt.Errorf("not downloaded: the server answers %s, %w", resp.Status, extract.ErrNoPage)
	default:
		return source{}, fmt.Errorf("not downloaded: the server answers %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	switch {
	case err != nil:
		return source{}, fmt.Errorf("not downloaded: %w", err)
	case len(body) > maxFile:
		return source{}, fmt.Errorf("larger than %d MB", maxFile>>20)
	}
	file := name + extension(resp)
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return source{}, fmt.Errorf("not kept: %w", err)
	}
	if changed, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil {
		if err := os.Chtimes(file, changed, changed); err != nil {
			return source{}, fmt.Errorf("not kept: %w", err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return source{}, fmt.Errorf("not kept: %w", err)
	}
	return source{key: address, file: file, info: info, page: true}, nil
}

// extension returns that of the page's content: what the server says, else that of the address.
func extension(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "text/html", "application/xhtml+xml":
		return ".html"
	case "text/markdown":
		return ".md"
	case "application/pdf":
		return ".pdf"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return ".docx"
	}
	if ext := strings.ToLower(path.Ext(resp.Request.URL.Path)); len(ext) > 1 && len(ext) <= 5 {
		return ext
	}
	if kind == "text/plain" {
		return ".txt"
	}
	return ".html"
}

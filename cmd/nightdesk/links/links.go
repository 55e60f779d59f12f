// Package links makes links to artefacts in storage that open without credentials.
//
// Entry point: [To].
package links

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/sync/errgroup"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/storage"
)

// sharedFolder holds copies of pages whose links open without credentials. Its subfolders are named by the hour from
// which the links are expired.
const sharedFolder, sharedHour = "links/", "20060102T15"

// sharer makes links to artefacts that open without credentials. Relative links in a page would lead to unsigned
// addresses, so sharer links to a copy of the page in which they are signed.
type sharer struct {
	store    storage.Store
	linker   storage.Linker
	lifetime time.Duration
	folder   string // for copies
}

// To returns a link to an artefact that is valid for a lifetime. The links to other pages on a page are signed too. The
// error says so if the storage has no links.
func To(ctx context.Context, store storage.Store, key string, lifetime time.Duration) (string, error) {
	s, err := newSharer(ctx, store, lifetime)
	if err != nil {
		return "", err
	}
	const depth = 2 // a digest and its reports
	return s.link(ctx, key, depth)
}

// newSharer returns a sharer for the storage, or an error if the storage has no links. It deletes copies whose links
// have expired.
func newSharer(ctx context.Context, store storage.Store, lifetime time.Duration) (*sharer, error) {
	linker, ok := store.(storage.Linker)
	if !ok {
		return nil, view.Usage(view.Hint(errors.New("a directory has no links that others could open"),
			"Set STORAGE_URL=s3://bucket/prefix, or print the path with --path."))
	}
	now := time.Now().UTC()
	s := &sharer{store: store, linker: linker, lifetime: lifetime, folder: sharedFolder +
		now.Add(lifetime+time.Hour).Format(sharedHour) + "/"}
	keys, err := store.List(ctx, sharedFolder)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		hour, _, _ := strings.Cut(strings.TrimPrefix(key, sharedFolder), "/")
		if hour < now.Format(sharedHour) {
			if err := store.Delete(ctx, key); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// link returns a link to an artefact, or to a copy of it if it is a page with relative links. depth is the number of
// levels of linked pages to copy.
func (s *sharer) link(ctx context.Context, key string, depth int) (string, error) {
	if depth == 0 || path.Ext(key) != ".html" {
		return s.linker.Link(ctx, key, s.lifetime)
	}
	page, err := s.store.Get(ctx, key)
	if err != nil {
		return "", err
	}
	targets := map[string]string{} // key: link
	relinked(page, func(href string) string {
		if target, _ := targetOf(key, href); target != "" {
			targets[target] = ""
		}
		return href
	})
	if len(targets) == 0 {
		return s.linker.Link(ctx, key, s.lifetime)
	}
	if err := s.linkAll(ctx, targets, depth-1); err != nil {
		return "", err
	}
	copied := relinked(page, func(href string) string {
		target, fragment := targetOf(key, href)
		if target == "" {
			return href
		}
		return targets[target] + fragment
	})
	if err := s.store.Put(ctx, s.folder+key, copied); err != nil {
		return "", fmt.Errorf("store a copy of %s with signed links: %w", key, err)
	}
	return s.linker.Link(ctx, s.folder+key, s.lifetime)
}

// linkAll fills in the links to artefacts. It also links missing artefacts.
func (s *sharer) linkAll(ctx context.Context, targets map[string]string, depth int) error {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	keys := make([]string, 0, len(targets))
	for key := range targets {
		keys = append(keys, key)
	}
	for _, key := range keys {
		group.Go(func() error {
			link, err := s.link(ctx, key, depth)
			if errors.Is(err, storage.ErrNotExist) {
				link, err = s.linker.Link(ctx, key, s.lifetime)
			}
			mu.Lock()
			defer mu.Unlock()
			targets[key] = link
			return err
		})
	}
	return group.Wait()
}

// targetOf returns the key of the artefact that a link in a page points to, and the fragment of the link. The key is
// empty if the link points elsewhere.
func targetOf(page, href string) (key, fragment string) {
	u, err := url.Parse(href)
	if err != nil || u.IsAbs() || u.Host != "" {
		return "", ""
	}
	if u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return "", ""
	}
	key = path.Join(path.Dir(page), u.Path)
	if strings.HasPrefix(key, "../") {
		return "", ""
	}
	if u.Fragment != "" {
		fragment = "#" + u.EscapedFragment()
	}
	return key, fragment
}

// relinked returns a page with changed link addresses. All other bytes stay the same.
func relinked(page []byte, change func(href string) string) []byte {
	var out bytes.Buffer
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			if !errors.Is(z.Err(), io.EOF) { // does not happen: the tokenizer's buffer is unbounded
				return page
			}
			return out.Bytes()
		}
		raw := bytes.Clone(z.Raw())
		if kind != html.StartTagToken {
			out.Write(raw)
			continue
		}
		token, changed := z.Token(), false
		for i, a := range token.Attr {
			if a.Key == "href" && token.Data == "a" {
				token.Attr[i].Val = change(a.Val)
				changed = changed || token.Attr[i].Val != a.Val
			}
		}
		if changed {
			raw = []byte(token.String())
		}
		out.Write(raw)
	}
}

package main

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

// sharedFolder has copies of pages whose links open without credentials, by the hour from which the links no longer
// hold.
const sharedFolder, sharedHour = "links/", "20060102T15"

// sharer makes links to artefacts that open without credentials. Relative links of a page would lead to addresses that
// nobody has signed, so a copy of the page is linked in which they are signed, too.
type sharer struct {
	store    storage.Store
	linker   storage.Linker
	lifetime time.Duration
	folder   string // for copies
}

// newSharer returns a sharer for the storage; an error where there are no links. It removes copies whose links no
// longer hold.
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

// link returns a link to an artefact, and for a page to a copy of it if it has relative links. depth: how many pages
// that are linked one after the other are copied.
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

// linkAll fills in the links to artefacts. One that is gone is linked like one that is there.
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

// targetOf returns the key of the artefact that a link of a page leads to, and the fragment of the link. No key: it
// leads elsewhere.
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

// relinked returns a page with other addresses in its links. All else stays as it is, byte by byte.
func relinked(page []byte, change func(href string) string) []byte {
	var out bytes.Buffer
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			if !errors.Is(z.Err(), io.EOF) { // its buffer has no bound: it does not come
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

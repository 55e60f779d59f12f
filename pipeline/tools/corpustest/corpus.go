// Package corpustest is a small web for tests: a few hundred linked pages and PDFs on several hosts of this machine,
// and a search engine over them that answers as SearXNG does. It counts who asks for what, and its pages can be edited
// (Put, Remove). A page has an ETag, and who has that version gets 304.
//
// Every subject is a harbour with a few pages, each of which states facts with figures of their own, so that a test can
// tell which facts a report has and where they stand.
package corpustest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// kinds of pages that every subject has, in order.
var kinds = []string{"overview", "history", "figures", "news", "forum", "report"}

// Page is one page.
type Page struct {
	Subject string // Alder
	Kind    string // one of kinds
	URL     string // absolute
	Title   string
	Date    string   // YYYY-MM-DD
	Facts   []string // sentences, each with a figure that stands nowhere else
	Type    string   // media type
	Menu    string   // further words of its menu
	Stamp   string   // a line about its delivery, below the facts
	NoTag   bool     // it has no ETag
	body    []byte
}

// etag names the version of the page.
func (p *Page) etag() string {
	sum := sha256.Sum256(p.body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// Corpus is a running web. Safe for concurrent use.
type Corpus struct {
	Site
	Pages []*Page

	mu       sync.Mutex
	byPath   map[string]*Page // host and path
	fetched  map[string]int   // by URL
	same     map[string]int   // by URL
	searched map[string]int   // by query, as sent
	found    map[string]int   // by URL
}

// hosts of this machine on which the pages stand: a subject's pages stand on three of them.
var hosts = []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"}

// Start serves a corpus of so many subjects until the test ends: six pages each, and a list on every host.
func Start(t testing.TB, subjects int) *Corpus {
	t.Helper()
	c := &Corpus{byPath: map[string]*Page{}, fetched: map[string]int{}, same: map[string]int{}, searched: map[string]int{},
		found: map[string]int{}}
	c.Site = Serve(t, c)
	for i := range subjects {
		for k := range kinds {
			c.put(c.write(i, k))
		}
	}
	return c
}

// Subject returns the name of a subject.
func Subject(i int) string {
	name := names[i%len(names)]
	if round := i / len(names); round > 0 {
		return fmt.Sprintf("%s %s", prefixes[(round-1)%len(prefixes)], name)
	}
	return name
}

var (
	names = strings.Fields(`Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ironwood Juniper Katsura Larch Maple Nutmeg Oak Pine Quince Rowan Spruce Tamarack
		Umbra Viburnum Willow Xylia Yew Zelkova Aspen Beech Cypress Damson`)
	prefixes = []string{"North", "South", "East", "West", "New", "Old"}
)

// Page returns a copy of a subject's page of a kind, to be edited and Put; nil when it has been removed.
func (c *Corpus) Page(subject, kind string) *Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.Pages {
		if p.Subject == subject && p.Kind == kind {
			found := *p
			found.Facts = slices.Clone(p.Facts)
			return &found
		}
	}
	return nil
}

// Put adds a page or puts it in the place of the one at its address.
func (c *Corpus) Put(p Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(&p)
}

func (c *Corpus) put(p *Page) {
	if p.Type == "application/pdf" {
		p.body = pdf(p.Title, p.Facts)
	} else {
		p.body = []byte(c.html(p))
	}
	at := strings.TrimPrefix(p.URL, "http://")
	if old := c.byPath[at]; old != nil {
		*old = *p
		return
	}
	c.byPath[at] = p
	c.Pages = append(c.Pages, p)
}

// Remove takes a page away: it is answered with 404 and not found any more.
func (c *Corpus) Remove(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byPath, strings.TrimPrefix(address, "http://"))
	for i, p := range c.Pages {
		if p.URL == address {
			c.Pages = append(c.Pages[:i:i], c.Pages[i+1:]...)
			return
		}
	}
}

// Counts is what was asked for.
type Counts struct {
	Fetched  map[string]int // by address, of pages that were sent
	Same     map[string]int // by address, of those whose reader had them: 304
	Searched map[string]int // by query, as sent
	Found    map[string]int // by address, of results of searches
}

// Counts returns what has been asked for so far.
func (c *Corpus) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{maps.Clone(c.fetched), maps.Clone(c.same), maps.Clone(c.searched), maps.Clone(c.found)}
}

func (c *Corpus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/search" {
		c.search(w, r)
		return
	}
	if r.URL.Path == "/robots.txt" {
		_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	page := c.byPath[r.Host+r.URL.Path]
	if page == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", page.Type)
	if !page.NoTag {
		w.Header().Set("Etag", page.etag())
		if r.Header.Get("If-None-Match") == page.etag() {
			c.same[page.URL]++
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	c.fetched[page.URL]++
	_, _ = w.Write(page.body) // the client may have gone
}

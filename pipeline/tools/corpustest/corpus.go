// Package corpustest serves a small web for tests: a few hundred linked pages and PDFs on several hosts of this
// machine, and a search engine over them with the API of SearXNG. It counts requests, and tests can edit its pages
// (Put, Remove). Pages have ETags, and a request with the current ETag gets status 304.
//
// Every subject is a harbour with a few pages. Each page states facts with unique figures, so that a test can tell
// which facts a report contains and where.
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

// kinds are the kinds of pages of every subject, in order.
var kinds = []string{"overview", "history", "figures", "news", "forum", "report"}

// Page is a page of the corpus.
type Page struct {
	Subject string // such as Alder
	Kind    string // one of kinds
	URL     string // absolute
	Title   string
	Date    string   // YYYY-MM-DD
	Facts   []string // sentences, each with a unique figure
	Type    string   // media type
	Menu    string   // additional menu text
	Stamp   string   // a line about the delivery, below the facts
	NoTag   bool     // send no ETag
	body    []byte
}

// etag returns the ETag of the page's content.
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

// hosts are the hosts of this machine that serve pages. Each subject uses three of them.
var hosts = []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"}

// Start serves a corpus until the test ends, with six pages for each subject.
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

// Subject returns the name of subject i.
func Subject(i int) string {
	name := names[i%len(names)]
	if round := i / len(names); round > 0 {
		return fmt.Sprintf("%s %s", prefixes[(round-1)%len(prefixes)], name)
	}
	return name
}

var (
	names = strings.Fields(`Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ironwood Juniper Katsura Larch Maple Nutmeg
		Oak Pine Quince Rowan Spruce Tamarack Umbra Viburnum Willow Xylia Yew Zelkova Aspen Beech Cypress Damson`)
	prefixes = []string{"North", "South", "East", "West", "New", "Old"}
)

// Page returns a copy of a subject's page, to edit and Put, or nil if it was removed.
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

// Put adds a page or replaces the page at its address.
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

// Remove deletes a page. Its address returns 404, and searches no longer find it.
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

// Counts are the numbers of requests and search results.
type Counts struct {
	Fetched  map[string]int // by address: pages sent
	Same     map[string]int // by address: responses with status 304
	Searched map[string]int // by query, as sent
	Found    map[string]int // by address: occurrences in search results
}

// Counts returns the counts so far.
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
	_, _ = w.Write(page.body) // the client may have disconnected
}

// Package firmstest is a second small web for tests, with other pages than corpustest. Each firm has an encyclopedia
// article, news with advertisements, a table of products, questions and answers, a change log, a press release, a forum
// thread, a JSON listing, a page that changes with each request, and a page with lists. Pages are served as on the real
// web: with an ETag, a Last-Modified or neither, gzipped, moved, gone, unavailable for a night, behind a login, or
// forbidden to robots.
//
// Edits are possible changes to a firm's pages from one night to the next, each with the findings to report.
package firmstest

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/tools/corpustest"
)

// Web is a running web. Safe for concurrent use.
type Web struct {
	corpustest.Site
	Firms []*Firm

	mu       sync.Mutex
	requests int // makes content that changes with each request
	sent     int
	shown    []string // excerpts
}

// Start serves the pages of firms firms, at most 52, until the test ends.
func Start(t testing.TB, firms int) *Web {
	t.Helper()
	w := &Web{}
	w.Site = corpustest.Serve(t, w)
	for i := range firms {
		w.Firms = append(w.Firms, newFirm(i))
	}
	return w
}

// Edit changes a firm. Pages whose content changes get another Last-Modified.
func (w *Web) Edit(firm int, edit func(*Firm)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.Firms[firm]
	before := map[*Page]string{}
	for _, p := range f.Pages {
		before[p] = f.html(p, 0)
	}
	edit(f)
	for p, was := range before {
		if f.html(p, 0) != was {
			p.version++
		}
	}
}

// Files returns a firm's pages as files: pages that are served and do not change by themselves.
func (w *Web) Files(firm int) Files {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, files := w.Firms[firm], Files{}
	for _, p := range f.Pages {
		if p.State == "" && p.Kind != Live && p.Kind != Forum && p.Kind != Listing {
			files[f.slug()+"-"+p.Path+".html"] = f.html(p, 0)
		}
	}
	return files
}

// Sent returns how many pages have been sent so far, except pages that the client already had in that version.
func (w *Web) Sent() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// Shown reports whether the search engine has shown an excerpt with all of these parts.
func (w *Web) Shown(parts ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.shown, func(excerpt string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(excerpt, part) })
	})
}

// hosts maps kinds of pages to their hosts.
var hosts = map[string]string{
	Article: "127.0.0.2", News: "127.0.0.3", Products: "127.0.0.4", Questions: "127.0.0.4", Changelog: "127.0.0.5",
	Press: "127.0.0.6", Forum: "127.0.0.3", Listing: "127.0.0.5", Live: "127.0.0.6", About: "127.0.0.2",
}

// url returns the address of a firm's page.
func (w *Web) url(f *Firm, p *Page) string {
	host := hosts[p.Kind]
	if host == "" {
		host = "127.0.0.3"
	}
	return fmt.Sprintf("http://%s:%s/%s/%s", host, w.Port, f.slug(), p.Path)
}

func (w *Web) page(r *http.Request) (*Firm, *Page) {
	for _, f := range w.Firms {
		for _, p := range f.Pages {
			if "http://"+r.Host+r.URL.Path == w.url(f, p) || p.OldPath != "" && r.URL.Path == "/"+f.slug()+"/"+p.OldPath {
				return f, p
			}
		}
	}
	return nil, nil
}

func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.URL.Path {
	case "/search":
		w.search(rw, r)
		return
	case "/robots.txt":
		_, _ = fmt.Fprint(rw, "User-agent: *\nDisallow: /login\n")
		for _, f := range w.Firms {
			for _, p := range f.Pages {
				if p.State == "robots" && strings.HasPrefix(w.url(f, p), "http://"+r.Host+"/") {
					_, _ = fmt.Fprintf(rw, "Disallow: /%s/%s\n", f.slug(), p.Path)
				}
			}
		}
		return
	case "/login":
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(rw, loginPage)
		return
	}
	f, p := w.page(r)
	if p == nil {
		http.NotFound(rw, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/"+p.OldPath) && p.OldPath != "" {
		http.Redirect(rw, r, w.url(f, p), http.StatusMovedPermanently)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch p.State {
	case "404":
		http.NotFound(rw, r)
		return
	case "410":
		http.Error(rw, "Gone", http.StatusGone)
		return
	case "503":
		http.Error(rw, "Service Unavailable", http.StatusServiceUnavailable)
		return
	case "soft 404":
		_, _ = fmt.Fprint(rw, softPage)
		return
	case "login":
		http.Redirect(rw, r, "/login?next="+r.URL.Path, http.StatusFound)
		return
	case "empty": // scripts would fill the page
		_, _ = fmt.Fprint(rw,
			"<!doctype html><html><head><title>Loading</title></head><body><div id=root></div><script "+
				"src=/app.js></script></body></html>")
		return
	case "consent":
		_, _ = fmt.Fprint(rw, consentPage)
		return
	case "wall":
		_, _ = fmt.Fprint(rw, loginPage)
		return
	}
	w.requests++
	w.send(rw, r, f, p)
}

// send sends the page in the manner of its kind.
func (w *Web) send(rw http.ResponseWriter, r *http.Request, f *Firm, p *Page) {
	body := f.html(p, w.requests)
	switch p.Kind {
	case Article, Press: // a date only
		rw.Header().Set("Last-Modified", p.modified())
		if r.Header.Get("If-Modified-Since") == p.modified() {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	case Products, Questions:
		tag := `W/"` + digest(body) + `"`
		rw.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
	case About: // a server with a new tag for each response
		rw.Header().Set("Etag", fmt.Sprintf(`"%x"`, 0xabc000+w.requests))
	case Listing:
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	w.sent++
	if p.Kind != Products || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = rw.Write([]byte(body)) // the client may have gone
		return
	}
	rw.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(rw)
	_, _ = z.Write([]byte(body))
	_ = z.Close()
}

const loginPage = `<!doctype html><html><head><title>Sign in</title></head><body><main><h1>Please sign in to go on</h1>
<form method="post" action="/login"><label>E-mail <input name="email"></label>` +
	`<label>Password <input type="password" name="password"></label>
<button>Sign in</button></form><p>You have reached the limit of free articles this month. ` +
	`Subscribers read without limits.</p>
<p>Forgot your password? We can send you a new one.</p></main></body></html>`

const consentPage = `<!doctype html><html><head><title>Before you continue</title></head>` +
	`<body><main><h1>Before you continue</h1>
<p>We and our 812 partners use cookies and data to deliver and maintain our services and to measure engagement.</p>
<p>If you choose to accept all, we will also use cookies to develop and improve new services.</p>` +
	`<button>Accept all</button><button>Reject all</button></main></body></html>`

const softPage = `<!doctype html><html><head><title>Page not found</title></head><body><main><h1>Page not found</h1>
<p>Sorry, the page that you are looking for does not exist or has been moved. ` +
	`Try our home page or the search.</p></main></body></html>`

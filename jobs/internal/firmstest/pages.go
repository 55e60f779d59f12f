package firmstest

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
)

// lines returns the content of a page by sentence or row, as known to a search engine.
func (f *Firm) lines(p *Page) (lines []string) {
	switch p.Kind {
	case Article:
		return slices.Concat(f.History, f.Operations)
	case News:
		return f.NewsLines
	case Products:
		for _, r := range f.Table {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", r.Model, r.Price, r.Weight, r.Guarantee))
		}
	case Questions:
		for _, a := range f.Answers {
			lines = append(lines, a[0]+" "+a[1])
		}
	case Changelog:
		for _, r := range f.Releases {
			lines = append(lines, r.Items...)
		}
	case Press:
		return f.PressLines
	case Forum:
		for _, post := range f.Posts {
			lines = append(lines, post[1])
		}
	case Listing:
		for _, item := range f.Items {
			lines = append(lines, fmt.Sprintf(`"item": %q, "price_eur": %s, "in_stock": %s`, item[0], item[1], item[2]))
		}
	case Live:
		return f.LiveLines
	case About:
		return slices.Concat(f.AboutLines, f.Sites, f.Services)
	default:
		return p.Lines
	}
	return lines
}

// renderer writes one page. request is the number of the request, for content that changes with each request.
type renderer struct {
	*Firm
	page    *Page
	request int
	b       strings.Builder
}

func (r *renderer) w(form string, args ...any) { _, _ = fmt.Fprintf(&r.b, form, args...) }

func (r *renderer) paragraphs(lines ...string) {
	for _, line := range lines {
		r.w("<p>%s</p>\n", e(line))
	}
}

func (r *renderer) list(lines []string) {
	r.w("<ul>")
	for _, line := range lines {
		r.w("<li>%s</li>\n", e(line))
	}
	r.w("</ul>\n")
}

func e(text string) string { return html.EscapeString(text) }

// html renders the page. request: see renderer.
func (f *Firm) html(p *Page, request int) string {
	r := &renderer{Firm: f, page: p, request: request}
	if p.Kind == Listing {
		return r.listing()
	}
	r.w("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n", e(p.Title))
	switch p.Kind {
	case Article:
		r.article()
	case News:
		r.news()
	case Products:
		r.products()
	case Questions:
		r.questions()
	case Changelog:
		r.changelog()
	case Press:
		r.press()
	case Forum:
		r.forum()
	case Live:
		r.live()
	case About:
		r.about()
	default:
		r.w("</head><body><main><article><h1>%s</h1>\n<p class=byline>By our correspondent · 2 March 2026</p>\n", e(p.Title))
		r.paragraphs(p.Lines...)
		r.w("</article></main></body></html>")
	}
	return r.b.String()
}

func (r *renderer) article() {
	sections := []func(){
		func() { r.w("<h2 id=history>History</h2>\n<p>%s</p>\n", e(strings.Join(r.History, " "))) },
		func() {
			r.w("<h2 id=operations>Operations</h2>\n<p>%s</p>\n<p>%s</p>", e(strings.Join(r.Operations[:2], " ")),
				e(strings.Join(r.Operations[2:], " ")))
		},
	}
	if r.page.Shuffle {
		slices.Reverse(sections)
	}
	r.w("</head><body><div id=sidebar><ul><li>Main page</li><li>Random article</li><li>Donate</li></ul></div><main "+
		"id=content><h1>%s</h1>\n", e(r.Name))
	for _, section := range sections {
		section()
	}
	r.w("<h2>See also</h2><ul><li><a href=/x>List of companies</a></li></ul></main><footer>Text is available under a " +
		"free licence.</footer></body></html>")
}

func (r *renderer) news() {
	r.w("<script nonce=\"%x\">track(%d)</script></head><body><header>Daily Courier · Monday "+
		"edition</header><main><article><h1>%s plans a second plant</h1>\n", 7919*r.request, r.request, e(r.Name))
	r.w("<p class=byline>By our correspondent · 14 February 2026 · <span class=ago>%d minutes ago</span> · 2 "+
		"min read</p>\n", 3+r.request)
	r.paragraphs(r.NewsLines[:1]...)
	r.w("<aside class=\"ad advert\"><p>Advertisement</p><p>%s</p></aside>\n", adverts[r.request%len(adverts)])
	r.paragraphs(r.NewsLines[1:]...)
	r.w("<div class=share>%d people have shared this</div></article><section class=related><h2>Most read</h2><ol><li><a "+
		"href=/a>%s</a></li><li><a href=/b>%s</a></li></ol></section></main></body></html>",
		100+r.request, adverts[(r.request+1)%len(adverts)], adverts[(r.request+2)%len(adverts)])
}

func (r *renderer) products() {
	r.w("</head><body><nav>Home Shop Basket</nav><main><h1>Products and prices</h1><p>All prices of %s include "+
		"tax.</p><table><thead><tr><th>Model</th><th>Price</th><th>Weight</th><th>Guarantee</th></tr></thead><tbody>\n",
		e(r.Name))
	rows := slices.Clone(r.Table)
	if r.page.Shuffle {
		slices.Reverse(rows)
	}
	for _, row := range rows {
		r.w("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", e(row.Model), e(row.Price), e(row.Weight),
			e(row.Guarantee))
	}
	r.w("</tbody></table></main></body></html>")
}

func (r *renderer) questions() {
	r.w("</head><body><main><h1>Questions and answers</h1>\n")
	for _, a := range r.Answers {
		r.w("<details><summary>%s</summary><p>%s</p></details>\n", e(a[0]), e(a[1]))
	}
	r.w("</main></body></html>")
}

func (r *renderer) changelog() {
	r.w("</head><body><main><h1>%s</h1>\n", e(r.page.Title))
	for _, release := range r.Releases {
		r.w("<h2>Version %s <small>%s</small></h2>\n", release.Version, release.Date)
		r.list(release.Items)
	}
	r.w("</main></body></html>")
}

func (r *renderer) press() {
	r.w("</head><body><main><p>FOR IMMEDIATE RELEASE</p><h1>%s</h1>\n<p>4 February 2026 – %s</p>\n", e(r.page.Title),
		e(r.PressLines[0]))
	r.paragraphs(r.PressLines[1:]...)
	r.w("<h3>About %s</h3><p>%s makes precise instruments and is known for its service.</p><p>Contact: "+
		"press@example.org</p></main></body></html>", e(r.Name), e(r.Name))
}

func (r *renderer) forum() {
	r.w("<meta name=csrf content=%x></head><body><div class=online>%d members online, %d guests</div><main><h1>%s</h1>\n",
		104729*r.request, 20+r.request%7, 300+r.request, e(r.page.Title))
	for i, post := range r.Posts {
		r.w("<div class=post id=p%d><div class=author><a href=\"/u/%s?sid=%x\">%s</a> · posted %d hours ago · %d "+
			"likes</div><p>%s</p><div class=sig>-- Better safe than sorry</div></div>\n",
			i, post[0], 15485863*r.request, post[0], 5+r.request, i+r.request, e(post[1]))
	}
	r.w("<p>%d people have viewed this thread on %s.</p></main></body></html>", 5000+r.request, e(r.Name))
}

func (r *renderer) listing() string {
	records := make([]map[string]any, 0, len(r.Items))
	for _, item := range r.Items {
		records = append(records, map[string]any{"item": item[0], "price_eur": json.Number(item[1]),
			"in_stock": json.Number(item[2])})
	}
	text, _ := json.MarshalIndent(map[string]any{"listing": records, "currency": "EUR"}, "", "  ") // cannot fail
	return string(text)
}

func (r *renderer) live() {
	r.w("</head><body data-session=%x><main><h1>%s</h1><p>Served at %02d:%02d:%02d for session %x.</p>\n",
		32452843*r.request, e(r.page.Title), r.request/3600%24, r.request/60%60, r.request%60, 49979687*r.request)
	r.paragraphs(r.LiveLines...)
	r.w("<p>You are visitor number %d of %s.</p><p>Last updated: %d minutes ago</p></main></body></html>", 88000+r.request,
		e(r.Name), 1+r.request%59)
}

func (r *renderer) about() {
	r.w("<script nonce=n%d></script></head><body><main><h1>%s</h1>\n", r.request, e(r.page.Title))
	r.paragraphs(r.AboutLines...)
	r.w("<h2>Sites of %s</h2>", e(r.Name))
	r.list(r.Sites)
	r.w("<h2>Services</h2>")
	r.list(r.Services)
	r.w("<input type=hidden name=token value=%x></main></body></html>", 67867967*r.request)
}

var adverts = []string{
	"Save 40 percent on garden chairs this week only", "New: the kettle that boils in 55 seconds",
	"Fly to the sun from 79 euros",
	"Learn the piano in 30 days", "7 tricks against moths that really work",
}

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

// html renders the page. request is the number of the request, for content that changes with each request.
func (f *Firm) html(p *Page, request int) string {
	e := html.EscapeString
	var b strings.Builder
	w := func(form string, args ...any) { _, _ = fmt.Fprintf(&b, form, args...) }
	paragraphs := func(lines ...string) {
		for _, line := range lines {
			w("<p>%s</p>\n", e(line))
		}
	}
	list := func(lines []string) {
		w("<ul>")
		for _, line := range lines {
			w("<li>%s</li>\n", e(line))
		}
		w("</ul>\n")
	}
	if p.Kind != Listing {
		w("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n", e(p.Title))
	}
	switch p.Kind {
	case Article:
		sections := []func(){
			func() { w("<h2 id=history>History</h2>\n<p>%s</p>\n", e(strings.Join(f.History, " "))) },
			func() {
				w("<h2 id=operations>Operations</h2>\n<p>%s</p>\n<p>%s</p>", e(strings.Join(f.Operations[:2], " ")),
					e(strings.Join(f.Operations[2:], " ")))
			},
		}
		if p.Shuffle {
			slices.Reverse(sections)
		}
		w("</head><body><div id=sidebar><ul><li>Main page</li><li>Random article</li><li>Donate</li></ul></div><main "+
			"id=content><h1>%s</h1>\n", e(f.Name))
		for _, section := range sections {
			section()
		}
		w("<h2>See also</h2><ul><li><a href=/x>List of companies</a></li></ul></main><footer>Text is available under a " +
			"free licence.</footer></body></html>")
	case News:
		w("<script nonce=\"%x\">track(%d)</script></head><body><header>Daily Courier · Monday "+
			"edition</header><main><article><h1>%s plans a second plant</h1>\n", 7919*request, request, e(f.Name))
		w("<p class=byline>By our correspondent · 14 February 2026 · <span class=ago>%d minutes ago</span> · 2 "+
			"min read</p>\n", 3+request)
		paragraphs(f.NewsLines[:1]...)
		w("<aside class=\"ad advert\"><p>Advertisement</p><p>%s</p></aside>\n", adverts[request%len(adverts)])
		paragraphs(f.NewsLines[1:]...)
		w("<div class=share>%d people have shared this</div></article><section class=related><h2>Most read</h2><ol><li><a "+
			"href=/a>%s</a></li><li><a href=/b>%s</a></li></ol></section></main></body></html>",
			100+request, adverts[(request+1)%len(adverts)], adverts[(request+2)%len(adverts)])
	case Products:
		w("</head><body><nav>Home Shop Basket</nav><main><h1>Products and prices</h1><p>All prices of %s include "+
			"tax.</p><table><thead><tr><th>Model</th><th>Price</th><th>Weight</th><th>Guarantee</th></tr></thead><tbody>\n",
			e(f.Name))
		rows := slices.Clone(f.Table)
		if p.Shuffle {
			slices.Reverse(rows)
		}
		for _, r := range rows {
			w("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", e(r.Model), e(r.Price), e(r.Weight), e(r.Guarantee))
		}
		w("</tbody></table></main></body></html>")
	case Questions:
		w("</head><body><main><h1>Questions and answers</h1>\n")
		for _, a := range f.Answers {
			w("<details><summary>%s</summary><p>%s</p></details>\n", e(a[0]), e(a[1]))
		}
		w("</main></body></html>")
	case Changelog:
		w("</head><body><main><h1>%s</h1>\n", e(p.Title))
		for _, r := range f.Releases {
			w("<h2>Version %s <small>%s</small></h2>\n", r.Version, r.Date)
			list(r.Items)
		}
		w("</main></body></html>")
	case Press:
		w("</head><body><main><p>FOR IMMEDIATE RELEASE</p><h1>%s</h1>\n<p>4 February 2026 – %s</p>\n", e(p.Title),
			e(f.PressLines[0]))
		paragraphs(f.PressLines[1:]...)
		w("<h3>About %s</h3><p>%s makes precise instruments and is known for its service.</p><p>Contact: "+
			"press@example.org</p></main></body></html>", e(f.Name), e(f.Name))
	case Forum:
		w("<meta name=csrf content=%x></head><body><div class=online>%d members online, %d guests</div><main><h1>%s</h1>\n",
			104729*request, 20+request%7, 300+request, e(p.Title))
		for i, post := range f.Posts {
			w("<div class=post id=p%d><div class=author><a href=\"/u/%s?sid=%x\">%s</a> · posted %d hours ago · %d "+
				"likes</div><p>%s</p><div class=sig>-- Better safe than sorry</div></div>\n",
				i, post[0], 15485863*request, post[0], 5+request, i+request, e(post[1]))
		}
		w("<p>%d people have viewed this thread on %s.</p></main></body></html>", 5000+request, e(f.Name))
	case Listing:
		records := make([]map[string]any, 0, len(f.Items))
		for _, item := range f.Items {
			records = append(records, map[string]any{"item": item[0], "price_eur": json.Number(item[1]),
				"in_stock": json.Number(item[2])})
		}
		text, _ := json.MarshalIndent(map[string]any{"listing": records, "currency": "EUR"}, "", "  ") // cannot fail
		return string(text)
	case Live:
		w("</head><body data-session=%x><main><h1>%s</h1><p>Served at %02d:%02d:%02d for session %x.</p>\n", 32452843*request,
			e(p.Title), request/3600%24, request/60%60, request%60, 49979687*request)
		paragraphs(f.LiveLines...)
		w("<p>You are visitor number %d of %s.</p><p>Last updated: %d minutes ago</p></main></body></html>", 88000+request,
			e(f.Name), 1+request%59)
	case About:
		w("<script nonce=n%d></script></head><body><main><h1>%s</h1>\n", request, e(p.Title))
		paragraphs(f.AboutLines...)
		w("<h2>Sites of %s</h2>", e(f.Name))
		list(f.Sites)
		w("<h2>Services</h2>")
		list(f.Services)
		w("<input type=hidden name=token value=%x></main></body></html>", 67867967*request)
	default:
		w("</head><body><main><article><h1>%s</h1>\n<p class=byline>By our correspondent · 2 March 2026</p>\n", e(p.Title))
		paragraphs(p.Lines...)
		w("</article></main></body></html>")
	}
	return b.String()
}

var adverts = []string{
	"Save 40 percent on garden chairs this week only", "New: the kettle that boils in 55 seconds",
	"Fly to the sun from 79 euros",
	"Learn the piano in 30 days", "7 tricks against moths that really work",
}

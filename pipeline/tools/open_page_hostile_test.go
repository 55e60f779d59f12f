package tools_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/lineartest"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue/scaletest"
)

// fetched returns a response like that of the client.
func fetched(kind, body string) fetch.Response {
	media, parameters, _ := strings.Cut(kind, ";")
	_, charset, _ := strings.Cut(parameters, "charset=")
	return fetch.Response{
		Status: 200, URL: "https://a.example/page", Type: media, Charset: charset, Body: []byte(body),
		Header: http.Header{"Content-Type": {kind}},
	}
}

// fill repeats s up to 256 KB. Time and memory are linear; the largest page that is read takes 20 times as much.
func fill(s string) string { return strings.Repeat(s, 256<<10/len(s)) }

// TestHostilePages: time and memory for reading a page are bounded, whatever its content.
func TestHostilePages(t *testing.T) {
	scaletest.Slow(t)
	formatting := strings.Builder{}
	for i := range 400 {
		formatting.WriteString(`<font size="` + strings.Repeat("1", i) + `">`)
	}
	for name, page := range map[string]string{
		"nested":                 strings.Repeat("<div>", 20_000) + "deep" + strings.Repeat("</div>", 20_000),
		"nested lists":           strings.Repeat("<ul><li>", 150) + fill("<b>x "),
		"nested tables":          strings.Repeat("<table><tr><td>", 60) + fill("<b>x "),
		"nested forms":           strings.Repeat("<form>", 190) + fill("<i>x "),
		"nested definitions":     strings.Repeat("<dl><dt>", 90) + fill("<i>x "),
		"nested footers":         strings.Repeat("<footer>", 190) + fill("<i>x "),
		"nested superscripts":    strings.Repeat("<sup>", 190) + fill("<i>x "),
		"nested maths":           strings.Repeat("<math>", 190) + fill("<mi>x "),
		"nested links in lists":  strings.Repeat("<ul><li><a href=x>", 90) + fill("<a href=y>x</a>"),
		"unclosed formatting":    formatting.String() + fill("<p>x"),
		"wide table":             "<table><tr>" + fill("<td>x"),
		"one row a table":        fill("<table><tr><td>x<td>y</table>"),
		"headings":               fill("<h1>x"),
		"headings of all levels": fill("<h1>x<h2>x<h3>x<h4>x<h5>x<h6>x"),
		"attributes":             "<p " + fill("a=b ") + ">x",
		"one word":               "<p>" + fill("x"),
		"comment":                "<!--" + fill("-<!-") + "<p>x",
		"entities":               fill("&amp;&#0;&bogus;"),
		"open tags":              fill("<a"),
		"end tags":               fill("</p>"),
		"scripts":                fill("<script>1</script>"),
		"linked data":            fill(`<script type="application/ld+json">{"datePublished":"20</script>`),
		"times":                  fill(`<time datetime="2">`),
		"code fences":            "<pre>" + fill("````"),
		"line breaks":            fill("<br>x"),
		"nested boxes":           strings.Repeat("<div>", 190) + fill("<p>"+strings.Repeat("x ", 50)),
		"nested boxes of words":  strings.Repeat("<div>", 190) + strings.Repeat("<p>"+strings.Repeat("x ", 50), 10) + fill("<i>x "),
		"selected":               fill("<main>x<article>"),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var text string
			var err error
			took := lineartest.Time(t, func() { _, text, err = tools.ReadPage(t.Context(), fetched("text/html", page)) })
			runtime.ReadMemStats(&after)
			spent := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%s, %d MB allocated, %d bytes of text, %v", took.Round(time.Millisecond), spent, len(text), err)
			if took > 20*time.Second || spent > 100 || len(text) > 200<<10 {
				t.Error("out of bounds")
			}
		})
	}
}

func TestPagesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		w.Header().Set("Content-Type", "text/html")
		size := 50
		if r.URL.Path == "/medium" {
			size = 6
		}
		for range size {
			if _, err := w.Write(bytes.Repeat([]byte("<p>x "), 1<<20/5)); err != nil {
				return
			}
		}
	})
	for _, path := range []string{"/large", "/medium"} {
		result, err := tool.Call(t.Context(), tools.Call{Query: site + path})
		if err != nil || !result.Failed || !result.Final {
			t.Errorf("%s: %+v, %v", path, result, err)
		}
	}
}

func TestPageLongerThanIsKept(t *testing.T) {
	t.Parallel()
	tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/robots.txt" {
			_, _ = w.Write([]byte("<p>" + strings.Repeat("größe ", 60_000)))
		}
	})
	result, err := tool.Call(t.Context(), tools.Call{Query: site})
	if err != nil || result.Failed || !strings.Contains(result.Text, "468 KB") {
		t.Errorf("%v, %q", err, result.Text[max(0, len(result.Text)-100):])
	}
	if s := result.Sources[0]; len(s.Text) > 200<<10 || !utf8.ValidString(s.Text) || !strings.Contains(result.Text, s.Text) {
		t.Errorf("%d bytes", len(s.Text))
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Gr\xf6\xdfe und Ma\xdf. ", 50)
	for name, tc := range map[string]struct{ kind, body, want string }{
		"latin by header":       {"text/html; charset=iso-8859-1", "<p>Gr\xf6\xdfe", "Größe"},
		"latin by meta":         {"text/html", "<meta charset=iso-8859-1><p>Gr\xf6\xdfe", "Größe"},
		"latin by nothing":      {"text/html", "<p>Gr\xf6\xdfe", "Größe"},
		"the header lies":       {"text/html; charset=utf-8", "<meta charset=iso-8859-1><p>" + long, "Größe und Maß."},
		"unknown":               {"text/html; charset=martian", "<p>Größe", "Größe"},
		"japanese":              {"text/html; charset=shift_jis", "<p>\x93\xfa\x96\x7b\x8c\xea", "日本語"},
		"zero bytes":            {"text/html", "<p>a \x00page\x00 with them", "a page with them"},
		"wide":                  {"text/html", "\xff\xfe<\x00p\x00>\x00h\x00i\x00", "hi"},
		"latin text":            {"text/plain", "Gr\xf6\xdfe", "Größe"},
		"latin text that lies":  {"text/plain; charset=utf-8", "Gr\xf6\xdfe", "Größe"},
		"japanese text":         {"text/plain; charset=shift_jis", "\x93\xfa\x96\x7b\x8c\xea", "日本語"},
		"text with zero bytes":  {"text/plain", "a\x00b", "ab"},
		"a page that says text": {"text/plain", "<!DOCTYPE html><html><p>words</p></html>", "words"},
		"xhtml":                 {"application/xhtml+xml", "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p>words</p></body></html>", "words"},
		"markdown":              {"text/markdown; charset=utf-8", "# T\n\n## H\n\nwords\n", "## H\n\nwords"},
	} {
		if _, got, err := tools.ReadPage(t.Context(), fetched(tc.kind, tc.body)); err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzPage: the text is always bounded, valid UTF-8 without NUL bytes, and reading it again gives the same text.
func FuzzPage(f *testing.F) {
	for _, kind := range []string{"text/html; charset=utf-8", "text/html; charset=gbk", "text/plain", "text/markdown", "application/pdf"} {
		f.Add(kind, "<title>T</title><meta property=og:site_name content=S><table><tr><td>a<td>b</table><pre>x\n y</pre><math><msup><mi>n</mi><mn>2</mn></msup></math>")
	}
	f.Add("text/html", "<script type=\"application/ld+json\">{\"datePublished\":\"2026-01-01\"}</script><h2>x</h2>\x00<p>\xff")
	f.Add("text/plain", "\xff\xfea\x00")
	f.Fuzz(func(t *testing.T, kind, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), scaletest.Patience)
		defer cancel()
		var title, text string
		var err error
		took := lineartest.Time(t, func() { title, text, err = tools.ReadPage(ctx, fetched(kind, body)) })
		if took > 15*time.Second {
			t.Errorf("%d bytes take %s", len(body), took)
		}
		if err != nil {
			return
		}
		if !utf8.ValidString(title+text) || strings.ContainsRune(title+text, 0) || len(text) > 200<<10 || title == "" || text == "" {
			t.Errorf("title %q, text %q", title, text)
		}
		if t2, again, err := tools.ReadPage(ctx, fetched(kind, body)); err != nil || again != text || t2 != title {
			t.Errorf("a second reading gives %q, %v", again, err)
		}
	})
}

package sandbox_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"nightdesk/pipeline/tools/sandbox"
)

func TestCleanSVG(t *testing.T) {
	t.Parallel()
	const open, shut = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">`, `</svg>`
	for _, tc := range []struct{ name, in, want string }{
		{"a drawing", `<path d="M0 0L1 1" style="fill: none"/><text x="1">a &amp; b</text>`, `<path d="M0 0L1 1" style="fill: none"></path><text x="1">a &amp; b</text>`},
		{"script", `<script>alert(1)</script><g/>`, `<g></g>`},
		{"event", `<g onclick="alert(1)" id="a"/>`, `<g id="a"></g>`},
		{"link", `<a xlink:href="javascript:alert(1)"><g/></a>`, ``},
		{"foreign object", `<foreignObject><g/><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://x.example"/></foreignObject>`, ``},
		{"reference outside", `<use xlink:href="https://x.example/a.svg#b"/><use href="#b"/>`, `<use></use><use xlink:href="#b"></use>`},
		{"image outside", `<image href="https://x.example/a.png"/><image href="data:image/svg+xml;base64,AAAA"/>`, `<image></image><image></image>`},
		{"style that fetches", `<g style="fill: url(https://x.example)"/><g fill="url(#own)"/><g fill="u\72l(x)"/>`, `<g></g><g fill="url(#own)"></g><g></g>`},
		{"style sheet", `<style>*{stroke-linejoin: round}</style><style>@import "x"</style>`, `<style>*{stroke-linejoin: round}</style><style></style>`},
		{"style sheet in pieces", `<style>*{fill:u<!-- -->rl(https://x.example)}</style><style>*{fill:u<g/>rl(x)}</style>`, `<style></style><style></style>`},
		{"style sheet in CDATA", `<style><![CDATA[*{fill: url(x)}]]></style>`, `<style></style>`},
		{"animation", `<set attributeName="href" to="javascript:x"/><animate/>`, ``},
		{"processing", `<?xml-stylesheet href="https://x.example"?><g/>`, `<g></g>`},
		{"another namespace", `<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script><h:g xmlns:h="urn:x"/>`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := sandbox.CleanSVG([]byte(open + tc.in + shut))
			if err != nil || string(got) != open+tc.want+shut {
				t.Errorf("got  %s, %v\nwant %s", got, err, open+tc.want+shut)
			}
		})
	}
	for _, in := range []string{"", "text", "<html></html>", "<svg>", "<svg></svg><svg></svg>", `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>`, strings.Repeat("<svg>", 100)} {
		if got, err := sandbox.CleanSVG([]byte(in)); err == nil {
			t.Errorf("%q is taken: %s", in, got)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	var good, wide bytes.Buffer
	if err := png.Encode(&good, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 5000, 1))); err != nil {
		t.Fatal(err)
	}
	figures, refused := sandbox.Figures([]sandbox.File{
		{Name: "a.svg", Body: good.Bytes()}, // goes by what it is
		{Name: "b\n](x).svg", Body: []byte("<svg/>")},
		{Name: "c.png", Body: []byte("#!/bin/sh")},
		{Name: "d.png", Body: wide.Bytes()},
		{Name: "e.png", Body: good.Bytes()[:20]},
	})
	if len(figures) != 2 || figures[0].Ext != "png" || figures[1].Ext != "svg" || figures[1].Name != "b___x_.svg" || len(refused) != 3 {
		t.Errorf("%+v, refused %q", figures, refused)
	}
}

// What comes out is SVG that comes out again unchanged, and has nothing in it that runs or fetches.
func FuzzCleanSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><style>a{}</style><use xlink:href="#a"/><g style="fill:url(#b)">text</g></svg>`))
	f.Add([]byte(`<svg><script>1</script><image href="data:image/png;base64,AA=="/></svg>`))
	f.Add([]byte("<svg><text a='b'>\r\n&#13;&lt;</text></svg>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := sandbox.CleanSVG(body)
		if err != nil {
			return
		}
		twice, err := sandbox.CleanSVG(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not stable:\n%q\n%q, %v", once, twice, err)
		}
		for _, bad := range []string{"<script", "<foreignObject", " onload=", " onclick=", "<iframe", "<a ", "<!", "<?"} {
			if bytes.Contains(once, []byte(bad)) {
				t.Fatalf("%q in %q", bad, once)
			}
		}
	})
}

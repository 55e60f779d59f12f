package sandbox_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/tools/sandbox"
)

// cleaned returns what becomes of an SVG picture; "" if it is refused.
func cleaned(body string) string {
	figures, _ := sandbox.Figures([]sandbox.File{{Name: "a.svg", Body: []byte(body)}})
	if len(figures) == 0 {
		return ""
	}
	return string(figures[0].Body)
}

func TestCleanSVG(t *testing.T) {
	t.Parallel()
	const open, shut = `<svg xmlns="http://www.w3.org/2000/svg">`, `</svg>`
	for _, tc := range []struct{ name, in, want string }{
		{"a drawing", `<path d="M0 0L1 1" fill="rgb(1, 2, 3)"/><text x="1" transform="translate(1, 2) rotate(-90 1 2)">a &amp; b</text>`,
			`<path d="M0 0L1 1" fill="rgb(1, 2, 3)"></path><text x="1" transform="translate(1, 2) rotate(-90 1 2)">a &amp; b</text>`},
		{"script", `<script>alert(1)</script><g/>`, `<g></g>`},
		{"event", `<g onclick="alert(1)" fill="red"/>`, `<g fill="red"></g>`},
		{"link", `<a href="javascript:alert(1)"><g/></a>`, ``},
		{"foreign object", `<foreignObject><g/><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://x.example"/></foreignObject>`, ``},
		{"references", `<use href="#b"/><g id="b" clip-path="url(#c)"/><image href="data:image/png;base64,AA=="/>`, `<g></g>`},
		{"values that fetch", `<g fill="url(https://x.example)"/><g fill="URL (x)"/><g fill="u\72l(x)"/><g fill="red url(x)"/><g fill="rgb(url(x))"/>`,
			`<g></g><g></g><g></g><g></g><g></g>`},
		{"style", `<style>*{fill: red}</style><g style="fill: red" class="a"/>`, `<g></g>`},
		{"animation", `<set attributeName="href" to="javascript:x"/><animate/>`, ``},
		{"processing", `<?xml-stylesheet href="https://x.example"?><!-- a --><g/>`, `<g></g>`},
		{"another namespace", `<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script><h:g xmlns:h="urn:x" h:fill="red"/>`, ``},
		{"an attribute of another namespace", `<g xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#b"/>`, `<g></g>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := cleaned(open + tc.in + shut); got != open+tc.want+shut {
				t.Errorf("got  %s\nwant %s", got, open+tc.want+shut)
			}
		})
	}
	for _, in := range []string{"", "text", "<html></html>", "<svg>", "<svg></svg><svg></svg>", "<svg></svg><html></html>", "\x89PNG\r\n\x1a\n",
		`<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>`, strings.Repeat("<svg>", 100)} {
		if got := cleaned(in); got != "" {
			t.Errorf("%q is taken: %s", in, got)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	figures, refused := sandbox.Figures([]sandbox.File{
		{Name: "a_b.svg", Body: []byte("<svg><title></title></svg>")},
		{Name: "b\n](x).svg", Body: []byte("<svg/>")},
		{Name: "t.svg", Body: []byte("<svg><g><title>a part</title></g><title> Growth\n of A </title></svg>")},
		{Name: "c.svg", Body: []byte("#!/bin/sh")},
	})
	var got []string
	for _, f := range figures {
		got = append(got, f.Name+" "+f.Title)
	}
	if want := []string{"a_b.svg a b", "b___x_.svg b x", "t.svg Growth of A"}; !slices.Equal(got, want) || len(refused) != 1 {
		t.Errorf("%q, refused %q", got, refused)
	}
}

// FuzzCleanSVG: the output is SVG that is unchanged by a second call and contains nothing that runs or fetches.
func FuzzCleanSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><style>a{}</style><use href="#a"/><g fill="rgb(1,2,3)">text</g></svg>`))
	f.Add([]byte(`<svg><script>1</script><rect fill="url(#b)" transform="rotate(1)"/><title>t</title></svg>`))
	f.Add([]byte("<svg><text x='b'>\r\n&#13;&lt;</text></svg>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		once := cleaned(string(body))
		if once == "" {
			return
		}
		if twice := cleaned(once); once != twice {
			t.Fatalf("not stable:\n%q\n%q", once, twice)
		}
		for _, bad := range []string{"<script", "<foreignObject", "<style", "<image", "<use", "<iframe", "<a ", "<!", "<?"} {
			if strings.Contains(once, bad) {
				t.Fatalf("%q in %q", bad, once)
			}
		}
	})
}

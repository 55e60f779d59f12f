package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"slices"
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
		{"style sheet that draws", `<style>*{fill: url(#own)}</style><style>path{marker: none}</style>`, `<style></style><style></style>`},
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
	for name, in := range map[string]string{
		"parts of parts":       `<g id="a"><use href="#b"/><use href="#b"/></g><g id="b"><use href="#c"/><use href="#c"/></g><path id="c"/>`,
		"a part of itself":     `<g id="a"><use href="#a"/></g>`,
		"patterns of patterns": `<pattern id="a"><rect fill="url(#b)"/></pattern><pattern id="b"><rect/></pattern><rect style="fill: url(#a)"/>`,
		"a gradient's name":    `<g id="a"><use href="#b"/></g><linearGradient id="b"/><g id="b"><use href="#c"/></g><g id="c"/><use href="#a"/>`,
		"too often":            `<path id="a" d="` + strings.Repeat("M0 0L1 1", 10_000) + `"/>` + strings.Repeat(`<use href="#a"/>`, 1000),
		"pictures":             strings.Repeat(`<image href="data:image/png;base64,`+base64.StdEncoding.EncodeToString(picture(t, 4000, 1500))+`"/>`, 3),
	} {
		if got, err := sandbox.CleanSVG([]byte(open + in + shut)); err == nil {
			t.Errorf("%s: taken, %d bytes", name, len(got))
		}
	}
	for name, in := range map[string]string{
		"glyphs":    `<defs><path id="A"/></defs><g id="text_1" clip-path="url(#clip)">` + strings.Repeat(`<use xlink:href="#A"/>`, 1000) + `</g><clipPath id="clip"><rect/></clipPath>`,
		"gradients": `<linearGradient id="a" href="#b"/><linearGradient id="b"><stop/></linearGradient><g id="m"><rect fill="url(#a)"/></g><use href="#m"/>`,
	} {
		if _, err := sandbox.CleanSVG([]byte(open + in + shut)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, in := range []string{"", "text", "<html></html>", "<svg>", "<svg></svg><svg></svg>", `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>`, strings.Repeat("<svg>", 100)} {
		if got, err := sandbox.CleanSVG([]byte(in)); err == nil {
			t.Errorf("%q is taken: %s", in, got)
		}
	}
}

// picture returns a PNG of this size.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestFigures(t *testing.T) {
	t.Parallel()
	good := picture(t, 3, 2)
	figures, refused := sandbox.Figures([]sandbox.File{
		{Name: "a_b.svg", Body: good}, // goes by what it is
		{Name: "b\n](x).svg", Body: []byte("<svg/>")},
		{Name: "t.svg", Body: []byte("<svg><g><title>a part</title></g><title> Growth\n of A </title></svg>")},
		{Name: "c.png", Body: []byte("#!/bin/sh")},
		{Name: "d.png", Body: picture(t, 5000, 1)},
		{Name: "e.png", Body: good[:20]},
	})
	var got []string
	for _, f := range figures {
		got = append(got, f.Name+" "+f.Ext+" "+f.Title)
	}
	if want := []string{"a_b.svg png a b", "b___x_.svg svg b x", "t.svg svg Growth of A"}; !slices.Equal(got, want) || len(refused) != 3 {
		t.Errorf("%q, refused %q", got, refused)
	}
}

// chunk returns a chunk of a PNG picture.
func chunk(kind, content string) []byte {
	body := append([]byte(kind), content...)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	return binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
}

func TestCleanPNG(t *testing.T) {
	t.Parallel()
	good := picture(t, 3, 2)
	head := len("\x89PNG\r\n\x1a\n") + 12 + 13 // magic and IHDR
	laden := slices.Concat(good[:head], chunk("tEXt", "Comment\x00<script>"), chunk("acTL", "12345678"), good[head:], []byte("<script>after the end</script>"))
	if got, err := sandbox.CleanPNG(laden); err != nil || !bytes.Equal(got, good) {
		t.Errorf("%q, %v", got, err)
	}
	broken := bytes.Clone(good)
	broken[head+10]++
	for name, body := range map[string][]byte{
		"empty": nil, "cut": good[:len(good)-1], "without an end": good[:len(good)-12], "checksum": broken,
		"endless chunk": slices.Concat(good[:head], []byte("\xff\xff\xff\xffIDAT1234")),
	} {
		if _, err := sandbox.CleanPNG(body); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// FuzzCleanPNG: the output is a PNG picture that is unchanged by a second call.
func FuzzCleanPNG(f *testing.F) {
	f.Add(picture(f, 3, 2))
	f.Add(slices.Concat(picture(f, 1, 1)[:33], chunk("tEXt", "a\x00b"), picture(f, 1, 1)[33:]))
	f.Fuzz(func(t *testing.T, body []byte) {
		once, err := sandbox.CleanPNG(body)
		if err != nil {
			return
		}
		if twice, err := sandbox.CleanPNG(once); err != nil || !bytes.Equal(once, twice) || len(once) > len(body) {
			t.Fatalf("not stable: %q, %q, %v", once, twice, err)
		}
	})
}

// FuzzCleanSVG: the output is SVG that is unchanged by a second call and contains nothing that runs or fetches.
func FuzzCleanSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><style>a{}</style><use xlink:href="#a"/><g style="fill:url(#b)">text</g></svg>`))
	f.Add([]byte(`<svg><script>1</script><image href="data:image/png;base64,AA=="/></svg>`))
	f.Add([]byte(`<svg><g id="a"><use href="#b"/></g><linearGradient id="b" href="#c"/><rect style="fill:url(#b)"/><title>t</title></svg>`))
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

package tools_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// picture returns a picture of this size, encoded.
func picture(wide, high int, encode func(io.Writer, image.Image) error) []byte {
	m := image.NewPaletted(image.Rect(0, 0, wide, high), color.Palette{color.White, color.Black})
	m.SetColorIndex(wide/2, high/2, 1)
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func asJPEG(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }
func asGIF(w io.Writer, m image.Image) error  { return gif.Encode(w, m, nil) }

// bomb returns a small PNG that claims 60,000 x 60,000 pixels.
func bomb() []byte {
	b := picture(200, 200, png.Encode)
	binary.BigEndian.PutUint32(b[16:], 60_000)
	binary.BigEndian.PutUint32(b[20:], 60_000)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

var photo = sync.OnceValue(func() []byte { return picture(1600, 800, asJPEG) })

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><script>alert(1)</script></svg>`

// gallery is a site with one page and all kinds of pictures. It counts requests.
type gallery struct {
	*httptest.Server
	page string
	mu   sync.Mutex
	asks map[string]int
}

func newGallery(t *testing.T, page string) *gallery {
	t.Helper()
	g := &gallery{page: page, asks: map[string]int{}}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gallery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asks[r.URL.Path]++
	g.mu.Unlock()
	send := func(kind string, body []byte) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body)
	}
	switch r.URL.Path {
	case "/page":
		send("text/html; charset=utf-8", []byte(strings.ReplaceAll(g.page, "SITE", g.URL)))
	case "/tower.png", "/other.png", "/third.png":
		send("image/png", picture(200+len(r.URL.Path), 120, png.Encode))
	case "/photo.gif": // neither name nor type are right
		send("image/png", photo())
	case "/moving":
		send("application/octet-stream", picture(200, 120, asGIF))
	case "/pixel.png":
		send("image/png", picture(1, 1, png.Encode))
	case "/bomb.png":
		send("image/png", bomb())
	case "/page.png":
		send("image/png", []byte("<!doctype html><title>No</title><p>There is no picture here.</p>"))
	case "/honest.png":
		send("text/html", []byte("<p>There is no picture here.</p>"))
	case "/drawing.svg":
		send("image/svg+xml", []byte(svg))
	case "/drawing.png":
		send("image/png", []byte(svg))
	case "/half.png":
		whole := picture(300, 300, png.Encode)
		send("image/png", whole[:len(whole)/2])
	case "/announced.png":
		w.Header().Set("Content-Length", fmt.Sprint(100<<20))
		send("image/png", picture(200, 200, png.Encode))
	case "/huge.png":
		w.Header().Set("Content-Type", "image/png")
		for block := bytes.Repeat([]byte("x"), 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	case "/slow.png":
		w.Header().Set("Content-Type", "image/png")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/round.png":
		http.Redirect(w, r, "/round.png", http.StatusFound)
	case "/inside.png":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

func pageOpener(t *testing.T, timeout time.Duration) tools.Tool {
	t.Helper()
	client := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}, PerHost: time.Nanosecond, Timeout: timeout})
	t.Cleanup(client.Close)
	return tools.NewOpenPage(client)
}

// TestPicture: a picture is decoded by its content, whatever its name and type. It is returned as a PNG of limited
// size.
func TestPicture(t *testing.T) {
	t.Parallel()
	g := newGallery(t, "")
	for path, want := range map[string]string{ // the size, or a part of the error
		"/tower.png":     "210x120",
		"/photo.gif":     "1000x500",
		"/moving":        "200x120",
		"/pixel.png":     "too small",
		"/bomb.png":      "too large",
		"/page.png":      "not an image",
		"/honest.png":    `of type "text/html"`,
		"/drawing.svg":   `of type "image/svg+xml"`,
		"/drawing.png":   "not an image",
		"/half.png":      "truncated image",
		"/announced.png": "larger than 8 MB",
		"/huge.png":      "larger than 8 MB",
		"/slow.png":      "no complete answer",
		"/round.png":     "redirects more than",
		"/inside.png":    "is not public",
		"/none.png":      "404",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if path == "/slow.png" {
				timeout = 300 * time.Millisecond
			}
			body, err := pageOpener(t, timeout).(tools.Picturer).Picture(t.Context(), g.URL+path)
			got := fmt.Sprint(err)
			if err == nil {
				size, err := png.DecodeConfig(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				got = fmt.Sprintf("%dx%d", size.Width, size.Height)
			}
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

const illustrated = `<!doctype html><html><head><title>Lighthouses</title>
<link rel="license" href="https://example.org/terms"><script type="application/ld+json">
{"@graph":[{"@type":"ImageObject","contentUrl":"/third.png","license":"CC0"}]}</script></head>
<body><nav><img src="/other.png" alt="Our logo"></nav><main><h1>Lighthouses</h1>
<p>A lighthouse is a tower with a light that guides ships at night, and there are some thousands of them.</p>
<h2>The tower</h2><p>The tower of Eddystone was finished in 1882 and is 49 metres high above the sea around it.</p>
<img src="/pixel.png" alt=""><img src="data:image/png;base64,AAAA" data-src="/pixel.png" alt="A counter">
<figure><img src="tower.png" alt="A tower"><figcaption>The tower in <b>1882</b>, seen from the sea
<a rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/">licence</a></figcaption></figure>
<h2>The lamp</h2><p>The lamp burns with 570,000 candles and is seen at a distance of 17 nautical miles.</p>
<img srcset="/other.png 1x, /big.png 2x" alt="The lamp"><img src="/third.png" alt="Its lens"></main></body></html>`

// memory is a bundle and a journal.
type memory struct {
	tools.Pages
	figures map[string][]byte
	journal map[string][]byte
}

func (m *memory) PutPage(context.Context, string, string, string) error { return nil }
func (m *memory) PutFigure(_ context.Context, _, path string, body []byte) error {
	m.figures[path] = body
	return nil
}

func (m *memory) once(ctx context.Context, place string,
	do func(context.Context) ([]byte, bool, error)) ([]byte, error) {
	if value, ok := m.journal[place]; ok {
		return value, nil
	}
	value, keep, err := do(ctx)
	if err == nil && keep {
		m.journal[place] = value
	}
	return value, err
}

// TestIllustrate opens a page and adds the pictures of its section to a claim, but no pictures of other sections, of
// the page layout, without captions, or too small ones. A second attempt fetches nothing again.
func TestIllustrate(t *testing.T) {
	t.Parallel()
	g := newGallery(t, illustrated)
	bundle := &memory{figures: map[string][]byte{}, journal: map[string][]byte{}}
	runner := &tools.Runner{Tools: tools.Set{pageOpener(t, time.Minute)}, Pages: bundle, Once: bundle.once}
	answer, err := runner.Call(t.Context(), "run", "open_page", tools.Call{ToolID: "block_1/1.1", Query: g.URL + "/page"})
	if err != nil || len(answer.Sources) != 1 {
		t.Fatalf("%+v, %v", answer, err)
	}
	for quote, want := range map[string][]topicqueue.Figure{
		"some thousands of them": nil,
		"49 metres high": {{URL: g.URL + "/tower.png", Licence: "https://creativecommons.org/licenses/by-sa/4.0/",
			Title: "The tower in 1882, seen from the sea licence (127.0.0.1; CC BY-SA 4.0)"}},
		"570,000 candles": {
			{URL: g.URL + "/other.png", Licence: "https://example.org/terms", Title: "The lamp (127.0.0.1; example.org/terms)"},
			{URL: g.URL + "/third.png", Licence: "CC0", Title: "Its lens (127.0.0.1; CC0)"}},
	} {
		for range 2 {
			at := strings.Index(answer.Sources[0].Text, quote)
			trace := topicqueue.ToolTrace{ToolID: "block_1/1.1", ToolType: "open_page", Source: answer.Sources[0],
				Claims: []topicqueue.Claim{{ID: "CIT-1-01.1", Start: at, End: at + len(quote)}}}
			if err := runner.Illustrate(t.Context(), "run", answer.Pictures, &trace); err != nil {
				t.Fatal(err)
			}
			var got []topicqueue.Figure
			for _, f := range trace.Source.Figures {
				if len(bundle.figures[f.Path]) == 0 || !f.BesideClaim(trace.Claims[0]) {
					t.Errorf("%+v is not in the bundle or not beside the claim", f)
				}
				f.Path, f.Start, f.End = "", 0, 0
				got = append(got, f)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pictures beside %q (-want +got):\n%s", quote, diff)
			}
		}
	}
	for path, times := range g.asks {
		if times != 1 && path != "/robots.txt" || path == "/big.png" {
			t.Errorf("%s was asked for %d times", path, times)
		}
	}
}

package links

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// opened returns what a link opens, without credentials.
func opened(t *testing.T, link string) string {
	t.Helper()
	answer, err := http.Get(strings.ReplaceAll(link, "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s, %v", link, answer.Status, err)
	}
	return string(body)
}

// TestSharedPages follows the links of a shared page as a browser does that has no credentials: from a digest to a
// report, and from there to a stored text.
func TestSharedPages(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, settings storage.S3Settings) {
		store, err := storage.NewS3(t.Context(), settings)
		if err != nil {
			t.Fatal(err)
		}
		const report = `<p>A &lt; B <a class="x" href="../cache/r/pages/aa.txt#L3">text</a> <a href="#ref-1">1</a> ` +
			`<a href="https://example.org/?a=1&amp;b=2">web</a></p>`
		for key, body := range map[string]string{
			"batches/tonight/digest.html": `<ul><li><a href="../../reports/r.html">R</a></li>` +
				`<li><a href="../../reports/plain.html">P</a></li><li><a href="../../reports/gone.html">G</a></li></ul>`,
			"reports/r.html":             report,
			"reports/plain.html":         `<p><a href="#ref-1">1</a></p>`,
			"cache/r/pages/aa.txt":       "the text",
			"links/20200101T00/old.html": "old",
		} {
			if err := store.Put(t.Context(), key, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		share := func(key string) string {
			s, err := newSharer(t.Context(), store, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			link, err := s.link(t.Context(), key, 2)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(link, settings.Endpoint+"/") {
				t.Errorf("the link %s does not lead to the endpoint %s", link, settings.Endpoint)
			}
			return link
		}
		digest := hrefs.FindAllStringSubmatch(opened(t, share("batches/tonight/digest.html")), -1)
		if len(digest) != 3 || !strings.Contains(digest[1][1], "/reports/plain.html") {
			t.Fatalf("the digest links %q", digest)
		}
		page := opened(t, digest[0][1])
		links := hrefs.FindAllStringSubmatch(page, -1)
		if len(links) != 3 || !strings.HasSuffix(links[0][1], "#L3") || links[1][1] != "#ref-1" ||
			links[2][1] != "https://example.org/?a=1&amp;b=2" {
			t.Fatalf("the report links %q", links)
		}
		if rest := strings.Replace(page, links[0][1], "../cache/r/pages/aa.txt#L3", 1); rest != report {
			t.Errorf("else the report has changed to\n%s", rest)
		}
		if text := opened(t, strings.TrimSuffix(links[0][1], "#L3")); text != "the text" {
			t.Errorf("the link leads to %q", text)
		}
		if link := share("reports/plain.html"); strings.Contains(link, "/links/") {
			t.Errorf("a page without links to others was copied: %s", link)
		}
		keys, err := store.List(t.Context(), "links/")
		if err != nil || len(keys) != 2 {
			t.Errorf("copies: %q, %v; want those of the digest and of one report", keys, err)
		}
	})
}

func TestTargetOf(t *testing.T) {
	t.Parallel()
	for href, want := range map[string][2]string{
		"../cache/r/pages/a.txt": {"cache/r/pages/a.txt"}, "../cache/r/a.txt#x%20y": {"cache/r/a.txt", "#x%20y"},
		"other.html": {"reports/other.html"},
		"#ref":       {}, "https://example.org/a": {}, "//example.org/a": {}, "/a": {},
		"../../a": {}, "mailto:a@example.org": {}, "": {}, "%zz": {},
	} {
		if key, fragment := targetOf("reports/r.html", href); key != want[0] || fragment != want[1] {
			t.Errorf("%s: %q %q, want %q", href, key, fragment, want)
		}
	}
}

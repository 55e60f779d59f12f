package corpustest_test

import (
	"context"
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/corpustest"
	"nightdesk/pipeline/tools/fetch"
)

// TestPagesCanBeRead: every page of the corpus can be opened with the real tool, and its text contains its facts.
func TestPagesCanBeRead(t *testing.T) {
	t.Parallel()
	c := corpustest.Start(t, 40)
	open := tools.NewOpenPage(fetch.New(fetch.Settings{Allow: []string{c.Allow()}, PerHost: 1}))
	figures := map[string]bool{}
	for _, p := range c.Pages {
		if p.Subject != corpustest.Subject(0) && p.Subject != corpustest.Subject(39) {
			continue
		}
		result, err := open.Call(context.Background(), tools.Call{Query: p.URL})
		if err != nil || result.Failed || len(result.Sources) != 1 {
			t.Fatalf("%s: %v, %s", p.URL, err, result.Text)
		}
		text := strings.Join(strings.Fields(result.Sources[0].Text), " ")
		for _, fact := range p.Facts {
			if !strings.Contains(text, fact) {
				t.Errorf("%s lacks %q:\n%s", p.URL, fact, text)
			}
			if figures[fact] {
				t.Errorf("%q stands twice", fact)
			}
			figures[fact] = true
		}
		if strings.Contains(text, "Cookies") || strings.Contains(text, "Sign in") {
			t.Errorf("%s has its menu in it:\n%s", p.URL, text)
		}
	}
	for address, n := range c.Counts().Fetched {
		if n != 1 {
			t.Errorf("%s was fetched %d times", address, n)
		}
	}
}

// TestVersions: a client with a version of a page learns whether it is current.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := corpustest.Start(t, 1)
	open := tools.NewOpenPage(fetch.New(fetch.Settings{Allow: []string{c.Allow()}, PerHost: 1}))
	page := c.Page(corpustest.Subject(0), "figures")
	ask := func(known fetch.Version) tools.Result {
		t.Helper()
		result, err := open.Call(t.Context(), tools.Call{Query: page.URL, Known: known})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := ask(fetch.Version{})
	known := fetch.Version{ETag: first.Sources[0].ETag}
	if known.ETag == "" {
		t.Fatal("no ETag")
	}
	if again := ask(known); !again.Unchanged || again.Failed || len(again.Sources) != 0 {
		t.Errorf("the same version: %+v", again)
	}
	page.Facts[0] = strings.Replace(page.Facts[0], "0", "1", 1)
	c.Put(*page)
	if changed := ask(known); changed.Unchanged || len(changed.Sources) != 1 || changed.Sources[0].ETag == known.ETag {
		t.Errorf("another version: %+v", changed)
	}
	c.Remove(page.URL)
	if missing := ask(known); !missing.Failed || !missing.Gone {
		t.Errorf("no page: %+v", missing)
	}
	if n := c.Counts(); n.Fetched[page.URL] != 2 || n.Same[page.URL] != 1 {
		t.Errorf("%+v", n)
	}
}

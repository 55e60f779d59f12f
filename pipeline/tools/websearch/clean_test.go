package websearch_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue"
)

func TestDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2024-01-15T12:00:00": "2024-01-15", "2023-11-16T01:36:32.547Z": "2023-11-16", "2024-01-15T23:30:00-05:00": "2024-01-15",
		"2024-01-15 12:00:00": "2024-01-15", "2024-01-15 12:00:00+00:00": "2024-01-15", "2024-01-15": "2024-01-15",
		"Aug 31, 2022": "2022-08-31", "November 2, 2025": "2025-11-02", "2 Mar 2021": "2021-03-02", "Tue, 12 Mar 2024 07:00:00 GMT": "2024-03-12",
		"3 days ago": "2026-11-17", "2 hours ago": "2026-11-19", "An hour ago": "2026-11-20", "1 day ago": "2026-11-19",
		"2019": "2019", " 2024-01-15 ": "2024-01-15",
		"2 weeks ago": "", "3 months ago": "", "1970-01-01T00:00:00": "", "0001-01-01T00:00:00": "", "2031-01-01": "", "yesterday": "", "": "", "31/12": "",
	} {
		if got := websearch.Day(text, now); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the <strong>bold</strong> one &amp; <b class=\"x\">two</b>": "the bold one & two",
		"a Vec<T> of x < y &lt;b&gt;":                                "a Vec<T> of x < y <b>",
		"one<br/>two<p>three</p>":                                    "one\ntwo\nthree",
		"  a\t b\u00a0c\r\n\n\n d ":                                  "a b c\nd",
		"it&#x27;s &#8220;so&#8221; &nosuch; a?x=1&copy=2":           "it's \u201cso\u201d &nosuch; a?x=1&copy=2",
		"x<script>alert('<b>')</script>y<!-- z -->":                  "x y",
		"hyphen\u00adated\x00\x1b[1m":                                "hyphenated[1m",
		"broken \xff byte":                                           "broken \ufffd byte",
		strings.Repeat("\u00e4", 8000):                               strings.Repeat("\u00e4", 4094) + "...",
	} {
		if got := websearch.Plain(text); got != want {
			t.Errorf("%.60q: %.60q, want %.60q", text, got, want)
		}
	}
}

// TestSearch_Sources: duplicate pages, more results than requested, pages without text.
func TestSearch_Sources(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	list := []any{
		object{"url": "https://a.example/1?utm_source=x", "title": "One", "content": "First."},
		object{"url": "http://www.a.example/1/", "title": "One again", "content": "Again."},
		object{"url": "https://a.example/bare", "title": "Bare"},
		object{"url": "mailto:a@a.example", "title": "No page", "content": "Mail."},
		object{"url": 7, "title": "Odd", "content": "Odd."},
		object{"url": "https://a.example/untitled", "content": "Untitled."},
		object{"url": "https://a.example/3", "title": "Three", "content": "Beyond the limit."},
	}
	body, err := json.Marshal(object{"results": list})
	if err != nil {
		t.Fatal(err)
	}
	found, err := provider(t, "tavily", answers(http.StatusOK, "application/json", body)).Search(t.Context(), "x", 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found.Sources {
		got = append(got, s.Title+"|"+s.URL+"|"+s.Text)
	}
	if want := "One|https://a.example/1|First. Bare|https://a.example/bare| a.example/untitled|https://a.example/untitled|Untitled."; strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	if o := found.Others; len(o) != 1 || o[0].URL != "https://a.example/3" || o[0].Title != "Three" || o[0].Text != "" {
		t.Errorf("beyond the limit: %+v", o)
	}
}

func TestSearch_LongQuery(t *testing.T) {
	t.Parallel()
	for _, query := range []string{strings.Repeat("heat pump ", 200), strings.Repeat("\u70ed", 1000), "a\xff\nb"} {
		p := provider(t, "brave", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query().Get("q")
			if n := utf8.RuneCountInString(q); n > websearch.MaxQuery || len(strings.Fields(q)) > 50 || !utf8.ValidString(q) || strings.Contains(q, "\n") {
				t.Errorf("asks for %d characters: %.60q", n, q)
			}
			answers(200, "application/json", []byte(nothing["brave"]))(w, r)
		})
		if _, err := p.Search(t.Context(), query, 2); err != nil {
			t.Error(err)
		}
	}
}

// FuzzDecode: no answer causes a panic, and all sources are valid.
func FuzzDecode(f *testing.F) {
	for _, name := range websearch.Names() {
		f.Add(fixture(f, name))
		f.Add([]byte(nothing[name]))
	}
	f.Add([]byte(page))
	f.Add([]byte(`{"results":[{"url":"https://a.example/<b>","title":"<b","content":"&#0;&#xD800;"}],"unresponsive_engines":[[]],"infoboxes":[{"content":"x","urls":[]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, name := range websearch.Names() {
			p, err := websearch.New(websearch.Settings{Name: name, BaseURL: "https://a.example", Outside: says200(body), Pace: freely{}})
			if err != nil {
				t.Fatal(err)
			}
			found, err := p.Search(t.Context(), "x", 3)
			if err != nil {
				_ = refusal(t, err)
			}
			if len(found.Sources) > 6 || len(found.Suggestions) > 5 {
				t.Errorf("%d sources, %d proposals", len(found.Sources), len(found.Suggestions))
			}
			for _, s := range found.Sources {
				u, err := url.Parse(s.URL)
				if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
					t.Errorf("no page: %q", s.URL)
				}
				if again, _, ok := fetch.CleanAddress(s.URL); !ok || again != s.URL {
					t.Errorf("%q is cleaned to %q", s.URL, again)
				}
				if !utf8.ValidString(s.Title+s.Text+s.URL) || s.Title == "" || strings.ContainsAny(s.Title, "\n\x00") || len(s.Text) > 8<<10 || s.Hash != topicqueue.TextHash(s.Text) {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}

package tools_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tool string
		a, b       string
		equal      bool
	}{
		{"case, spaces, punctuation, order", "web_search", "How high are spring tides?", "tides,  SPRING how high: are", true},
		{"full-width signs", "web_search", "ＧＤＰ 2024", "gdp 2024", true},
		{"another number", "web_search", "gdp 2024", "gdp 2025", false},
		{"a date filter", "web_search", "gdp after:2024-01-01", "gdp after:2025-01-01", false},
		{"the direction of a date filter", "web_search", "gdp after:2024", "gdp before:2024", false},
		{"what is not wanted", "web_search", "jaguar -car", "jaguar car", false},
		{"what is not wanted, elsewhere", "web_search", "jaguar -car", "-Car jaguar", true},
		{"a bullet is no filter", "web_search", "- jaguar - car", "jaguar car", true},
		{"places", "query_item", "Tides › Springs", "Springs › Tides", false},
		{"programs", "run_code", "print(1-2)", "print(2-1)", false},

		{"scheme", "open_page", "http://a.example/x", "https://a.example/x", true},
		{"host", "open_page", "https://A.Example./x", "https://a.example/x", true},
		{"default port", "open_page", "https://a.example:443/x", "http://a.example:80/x", true},
		{"another port", "open_page", "https://a.example:8443/x", "https://a.example/x", false},
		{"fragment", "open_page", "https://a.example/x#part", "https://a.example/x", true},
		{"credentials", "open_page", "https://me:secret@a.example/x", "https://a.example/x", true},
		{"tracking", "open_page", "https://a.example/x?utm_source=y&id=3&fbclid=z", "https://a.example/x?id=3", true},
		{"another page", "open_page", "https://a.example/x?id=3", "https://a.example/x?id=4", false},
		{"path is read as written", "open_page", "https://a.example/X", "https://a.example/x", false},
		{"trailing slash", "open_page", "https://a.example/x/", "https://a.example/x", true},
		{"no path", "open_page", "https://a.example", "https://a.example/", true},
		{"escapes", "open_page", "https://a.example/caf%c3%a9", "https://a.example/café", true},
		{"an escaped slash", "open_page", "https://a.example/a%2Fb", "https://a.example/a/b", false},
		{"words around it", "open_page", "<https://a.example/x>.", "https://a.example/x", true},
		{"IPv6", "open_page", "http://[2001:DB8::1]:80/", "http://[2001:db8::1]", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if a, b := tools.Key(tc.tool, tc.a), tools.Key(tc.tool, tc.b); (a == b) != tc.equal {
				t.Errorf("%q and %q", a, b)
			}
			if tools.Key(tc.tool, tc.a) == tools.Key("other", tc.a) {
				t.Error("another tool has the same key")
			}
		})
	}
	for _, nothing := range []string{"", "  ", "?!"} {
		if key := tools.Key("web_search", nothing); key != "" {
			t.Errorf("%q: %q", nothing, key)
		}
	}
}

// FuzzPageKey: the key of a page is its own key, for any input.
func FuzzPageKey(f *testing.F) {
	for _, s := range []string{"https://A.example:443//x//?utm_a=1&b=%2f#c", "http://[::1]:80", "see https://a.example/(x)", "a.example/%zz", "https://a.example/%2F/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		address, ok := tools.PageAddress(s)
		if !ok {
			return
		}
		key := tools.PageKey(address)
		if key != address && tools.PageKey("https://"+key) != key {
			t.Errorf("%q: %q becomes %q", address, key, tools.PageKey("https://"+key))
		}
		if strings.Contains(key, "#") {
			t.Errorf("%q: %q", address, key)
		}
	})
}

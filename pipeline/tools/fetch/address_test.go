package fetch_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/tools/fetch"
)

func TestCleanAddress(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		" https://A.Example/Path?b=2&utm_source=x&a=1&UTM_Medium=y#part ": "https://a.example/Path?b=2&a=1",
		"http://a.example:80/?gclid=1":                                    "http://a.example/",
		"https://a.example:443":                                           "https://a.example",
		"https://[2001:db8::1]:443/x":                                     "https://[2001:db8::1]/x",
		"https://user:secret@a.example/x":                                 "https://a.example/x",
		"https://a.example/caf%C3%A9?q=a%20b&q=c+d":                       "https://a.example/caf%C3%A9?q=a%20b&q=c+d",
		"https://a.example/x#:~:text=some%20words":                        "https://a.example/x",
		"https://a.example/x?utm=1&source=2":                              "https://a.example/x?utm=1&source=2",
		"/x":                                                              "",
		"//a.example/x":                                                   "",
		"javascript:alert(1)":                                             "",
		"magnet:?xt=urn:btih:1":                                           "",
		"ftp://a.example/x":                                               "",
		"data:text/html,x":                                                "",
		"https://":                                                        "",
		"https:///x":                                                      "",
		"https://a.example/\x00":                                          "",
		"":                                                                "",
		"https://a.example/" + strings.Repeat("x", 2000):                  "",
	} {
		if got, _, ok := fetch.CleanAddress(raw); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	_, want, _ := fetch.CleanAddress("https://www.a.example/x/?q=1#a")
	if _, got, _ := fetch.CleanAddress("http://a.example/x?q=1&fbclid=2"); got != want {
		t.Errorf("two spellings of one page: %q, %q", got, want)
	}
}

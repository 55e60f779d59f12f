package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/config"
)

func TestEngines(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"SEARXNG_URL": "http://searxng:8080", "TAVILY_API_KEY": "t", "BRAVE_API_KEY": "b", "SERPER_API_KEY": "s", "EXA_API_KEY": "e"}
	for _, tc := range []struct {
		name string
		env  map[string]string // besides keys, of which those are left out that are empty here
		want string
	}{
		{"all", nil, "searxng http://searxng:8080  0; tavily  t 0; brave  b 0; serper  s 0; exa  e 0"},
		{"none", map[string]string{"SEARXNG_URL": "", "TAVILY_API_KEY": "", "BRAVE_API_KEY": "", "SERPER_API_KEY": "", "EXA_API_KEY": ""}, ""},
		{"some in another order", map[string]string{"NIGHTDESK_WEB_SEARCH_PROVIDERS": "exa,brave, exa"}, "exa  e 0; brave  b 0"},
		{"rates", map[string]string{"NIGHTDESK_WEB_SEARCH_PROVIDERS": "brave tavily", "NIGHTDESK_WEB_SEARCH_PER_SECOND": "brave=20, tavily=1.5"}, "brave  b 20; tavily  t 1.5"},
		{"addresses", map[string]string{"NIGHTDESK_WEB_SEARCH_PROVIDERS": "brave,searxng", "NIGHTDESK_WEB_SEARCH_BASE_URLS": "brave=https://u:p@gateway/b,searxng=http://other:1"},
			"brave https://u:p@gateway/b b 0; searxng http://other:1  0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, from := range []map[string]string{keys, tc.env} {
				for k, v := range from {
					env[k] = v
				}
			}
			c := load(t, "", env, nil)
			var got []string
			for _, e := range c.WebSearch.Engines() {
				got = append(got, fmt.Sprintf("%s %s %s %v", e.Name, e.BaseURL.Reveal(), e.Key.Reveal(), e.PerSecond))
			}
			if s := strings.Join(got, "; "); s != tc.want {
				t.Errorf("%s", s)
			}
			if shown := fmt.Sprintf("%+v %v", c, c.Effective()); strings.Contains(shown, "u:p@") {
				t.Error("credentials are shown")
			}
		})
	}
}

func TestWebSearch_Problems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ variable, value, want string }{
		{"NIGHTDESK_WEB_SEARCH_PROVIDERS", "bing",
			`web_search.providers "bing": must be comma-separated names: searxng, tavily, brave, serper, exa`},
		{"NIGHTDESK_WEB_SEARCH_PROVIDERS", "brave",
			`web_search.providers "brave": brave is not configured: set BRAVE_API_KEY`},
		{"NIGHTDESK_WEB_SEARCH_PROVIDERS", "searxng", `searxng is not configured: set SEARXNG_URL`},
		{"NIGHTDESK_WEB_SEARCH_PER_SECOND", "brave=many", `brave must be from 0.001 to 1000 requests a second`},
		{"NIGHTDESK_WEB_SEARCH_PER_SECOND", "brave=NaN", `brave must be from 0.001 to 1000 requests a second`},
		{"NIGHTDESK_WEB_SEARCH_PER_SECOND", "20", `must be NAME=VALUE, ... with the names`},
		{"NIGHTDESK_WEB_SEARCH_BASE_URLS", "brave=ftp://user:s3cret@x", `brave must be http:// or https://`},
		{"SEARXNG_URL", "searxng:8080", `searxng_url "searxng:8080": must be http:// or https://`},
	} {
		_, err := config.Load("", false, func(name string) string {
			if name == tc.variable {
				return tc.value
			}
			return ""
		}, nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%s: %v", tc.variable, tc.value, err)
		}
	}
}

// `config` shows the value of open_page that runs get.
func TestWebSearch_OpenPageIsShown(t *testing.T) {
	t.Parallel()
	for _, e := range load(t, "", map[string]string{"TAVILY_API_KEY": "t"}, nil).Effective() {
		if e.Path == "researching.enable_open_page" && (e.Value != "true" || e.Source != "researching.enable_web_search") {
			t.Errorf("%+v", e)
		}
	}
	if !slices.Contains(config.SearchEngineNames(), "searxng") {
		t.Error(config.SearchEngineNames())
	}
}

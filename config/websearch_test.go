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
	keys := map[string]string{"SEARXNG_URL": "http://u:p@searxng:8080", "TAVILY_API_KEY": "t", "BRAVE_API_KEY": "b", "SERPER_API_KEY": "s", "EXA_API_KEY": "e"}
	c := load(t, "", keys, nil)
	var got []string
	for _, e := range c.WebSearch.Engines() {
		got = append(got, fmt.Sprintf("%s %s %s", e.Name, e.BaseURL.Reveal(), e.Key.Reveal()))
	}
	if s := strings.Join(got, "; "); s != "searxng http://u:p@searxng:8080 ; tavily  t; brave  b; serper  s; exa  e" {
		t.Error(s)
	}
	if shown := fmt.Sprintf("%+v %v", c, c.Effective()); strings.Contains(shown, "u:p@") {
		t.Error("credentials are shown")
	}
	if none := load(t, "", nil, nil).WebSearch.Engines(); len(none) > 0 {
		t.Errorf("without a key: %+v", none)
	}
	if _, err := tryLoad(t, "", map[string]string{"SEARXNG_URL": "searxng:8080"}, nil); err == nil || !strings.Contains(err.Error(), `searxng_url "searxng:8080": must be http:// or https://`) {
		t.Errorf("no address: %v", err)
	}
	if want := []string{"TAVILY_API_KEY", "BRAVE_API_KEY", "SERPER_API_KEY", "EXA_API_KEY"}; !slices.Equal(config.SearchEngineKeys(), want) {
		t.Errorf("keys %q, want %q", config.SearchEngineKeys(), want)
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
}

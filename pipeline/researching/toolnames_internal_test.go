package researching

import (
	"context"
	"testing"

	"nightdesk/pipeline/tools"
)

// called is a tool that has only a name.
type called string

func (c called) Name() string { return string(c) }

func (called) Description() string { return "" }

func (called) Call(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil }

func TestMeant(t *testing.T) {
	t.Parallel()
	all := tools.Set{called(ragHybrid), called(ragNaive), called(queryItem), called(webSearch), called(paperSearch), called(openPage), called(runCode)}
	few := tools.Set{called(ragHybrid), called(webSearch)}
	for name, want := range map[string][2]string{ // among all, among few
		"web_search":                        {webSearch, webSearch},
		"web_search<|channel|>commentary":   {webSearch, webSearch},
		"web_search.exec":                   {webSearch, webSearch},
		"functions.web_search":              {webSearch, webSearch},
		"mcp__tools__web_search":            {webSearch, webSearch},
		"search_web":                        {webSearch, webSearch},
		"Web Search":                        {webSearch, webSearch},
		"WebSearch":                         {webSearch, webSearch},
		"web-search()":                      {webSearch, webSearch},
		"web":                               {webSearch, webSearch},
		"hybrid_rag":                        {ragHybrid, ragHybrid},
		"rag_hybrid_search":                 {ragHybrid, ragHybrid},
		"open":                              {openPage, ""},
		"code":                              {runCode, ""},
		"rag":                               {"", ragHybrid}, // one of two, and the only one
		"search":                            {"", webSearch},
		"search_rag":                        {"", ""},
		"web_paper_search":                  {"", webSearch},
		"paper_search":                      {paperSearch, ""},
		"google":                            {"", ""},
		"web_browser":                       {"", ""},
		"final<|channel|>commentary":        {"", ""},
		"https://example.org/a/web_search":  {"", ""},
		"print(2 + 2)":                      {"", ""},
		"for page in open(path): run(page)": {"", ""},
		"":                                  {"", ""},
		"_":                                 {"", ""},
	} {
		for i, set := range []tools.Set{all, few} {
			if got, ok := set.Meant(name); got != want[i] || ok != (want[i] != "") {
				t.Errorf("%q among %d tools: %q, want %q", name, len(set), got, want[i])
			}
		}
	}
}

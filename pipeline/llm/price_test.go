package llm_test

import (
	"math"
	"slices"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	own, err := llm.ParsePrices("local = 0/0, gpt-4o=1/2,\n vendor/model:free=0.5/1.5")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		model string
		want  float64
		known bool
	}{
		{"local", 0, true},
		{"gpt-4o", 3, true},            // one's own price comes first
		{"gpt-4o-2024-08-06", 3, true}, // a fixed version costs what the model does
		{"gpt-4o-mini", 0.75, true},    // not gpt-4o's
		{"vendor/model:free", 2, true},
		{"gpt-4o-mini-audio", 0, false},
		{"gpt-4", 0, false},
		{"", 0, false},
	} {
		got, known := own.Cost(topicqueue.Usage{Model: tc.model, PromptTokens: 1e6, CompletionTokens: 1e6})
		if known != tc.known || math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("Cost of %q = %v, %v; want %v, %v", tc.model, got, known, tc.want, tc.known)
		}
	}
	used := []string{"local", "gpt-4o-mini", "vendor/model:free-2026-01-02"}
	if strange := own.Strange(used); len(strange) != 0 {
		t.Errorf("%q are called strange", strange)
	}
	if strange := own.Strange(used[1:]); !slices.Equal(strange, []string{"local"}) {
		t.Errorf("%q are called strange, want local", strange)
	}
	own, err = llm.ParsePrices("plain=3/15, cached=3/15/0.3, written=3/15/0.3/3.75")
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]float64{"plain": 30 + 15, "cached": 2*3 + 7*0.3 + 3 + 15, "written": 2*3 + 7*0.3 + 3.75 + 15, "claude-sonnet-4-20250514": 2*3 + 7*0.3 + 3.75 + 15} {
		got, known := own.Cost(topicqueue.Usage{Model: model, PromptTokens: 10e6, CachedTokens: 7e6, CacheWriteTokens: 1e6, CompletionTokens: 1e6})
		if !known || math.Abs(got-want) > 1e-9 {
			t.Errorf("with a cache, %q costs %v, want %v", model, got, want)
		}
	}
	for _, text := range []string{"a", "a=1", "a=1/x", "=1/2", "a=-1/2", "a=NaN/1", "a=1/1e9", "a=1/2/", "a=1/2/3/4/5"} {
		if _, err := llm.ParsePrices(text); err == nil {
			t.Errorf("ParsePrices(%q) is accepted", text)
		}
	}
}

func FuzzParsePrices(f *testing.F) {
	f.Add("a=1/2, b=0.5/1/0.1")
	f.Fuzz(func(t *testing.T, text string) {
		prices, err := llm.ParsePrices(text)
		for name, p := range prices {
			if err != nil || name == "" || p.Input < 0 || p.Output < 0 || p.Cached < 0 || p.Written < 0 {
				t.Errorf("%q: %q costs %v, %v", text, name, p, err)
			}
		}
	})
}

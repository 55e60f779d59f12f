package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
	"nightdesk/topicqueue"
)

func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, preset, strategy string
		flags                  map[string]string
		want                   topicqueue.Options // what a strategy changes
	}{
		{"medium, balanced", "medium", "balanced", nil, topicqueue.Options{SubTopics: 5, MaxIterations: 4, NewTopicMinScore: 0.85, QueueMaxLength: 7}},
		{"medium, exploratory", "medium", "exploratory", nil,
			topicqueue.Options{Strategy: "exploratory", SubTopics: 8, MaxIterations: 3, NewTopicMinScore: 0.75, MaxActions: 5, QueueMaxLength: 12}},
		{"medium, focused", "medium", "focused", nil, topicqueue.Options{Strategy: "focused", SubTopics: 3, MaxIterations: 6, NewTopicMinScore: 0.92, QueueMaxLength: 5}},
		{"quick, exploratory", "quick", "exploratory", nil,
			topicqueue.Options{Strategy: "exploratory", SubTopics: 2, MaxIterations: 1, NewTopicMinScore: 0.75, MaxActions: 5, QueueMaxLength: 5}},
		{"quick, focused", "quick", "focused", nil, topicqueue.Options{Strategy: "focused", SubTopics: 1, MaxIterations: 2, NewTopicMinScore: 0.92, QueueMaxLength: 5}},
		{"auto, exploratory", "auto", "exploratory", nil,
			topicqueue.Options{Strategy: "exploratory", SubTopics: 12, MaxIterations: 5, NewTopicMinScore: 0.75, MaxActions: 5, QueueMaxLength: 18}},
		{"what a person set stays", "deep", "exploratory", map[string]string{
			"planning.decompose.initial_subtopics": "4", "researching.max_iterations": "9", "researching.new_topic_min_score": "0.9",
		}, topicqueue.Options{Strategy: "exploratory", SubTopics: 4, MaxIterations: 9, NewTopicMinScore: 0.9, MaxActions: 5, QueueMaxLength: 6}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			flags := map[string]string{"preset": tc.preset, "researching.strategy": tc.strategy}
			for k, v := range tc.flags {
				flags[k] = v
			}
			o, err := config.RunOptionsOf(load(t, "", nil, flags), "", "", "handbook", "")
			if err != nil {
				t.Fatal(err)
			}
			got := topicqueue.Options{
				Strategy: o.Strategy, SubTopics: o.SubTopics, MaxIterations: o.MaxIterations, NewTopicMinScore: o.NewTopicMinScore, MaxActions: o.MaxActions, QueueMaxLength: o.QueueMaxLength,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	page := map[string]string{"researching.enable_open_page": "true"}
	for _, tc := range []struct {
		sources, kb string
		flags       map[string]string
		want        []string // tools
		problems    []string
	}{
		{"kb", "handbook", page, []string{"rag_hybrid", "rag_naive", "query_item"}, nil},
		{" WEB ", "handbook", page, []string{"open_page"}, nil},
		{"kb,web,kb", "handbook", page, []string{"rag_hybrid", "rag_naive", "query_item", "open_page"}, nil},
		{"kb code", "handbook", page, []string{"rag_hybrid", "rag_naive", "query_item", "run_code"}, nil},
		{"kb", "", page, nil, []string{`researching.sources "kb"`, "--kb"}},
		{"web", "handbook", map[string]string{"researching.enable_open_page": "false"}, nil, []string{`researching.sources "web"`, "SEARXNG_URL"}},
		{"kb,papers,code", "handbook", map[string]string{"researching.enable_run_code": "false"}, nil,
			[]string{`researching.sources "papers"`, "researching.enable_paper_search", `researching.sources "code"`, "researching.enable_run_code"}},
	} {
		flags := map[string]string{"researching.sources": tc.sources}
		for k, v := range tc.flags {
			flags[k] = v
		}
		o, err := config.RunOptionsOf(load(t, "", nil, flags), "", "", tc.kb, "")
		if (err != nil) != (len(tc.problems) > 0) {
			t.Errorf("%q: %v", tc.sources, err)
			continue
		}
		for _, want := range tc.problems {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: no %q in %v", tc.sources, want, err)
			}
		}
		if err == nil && !slices.Equal(o.Tools, tc.want) {
			t.Errorf("%q: tools %v, want %v", tc.sources, o.Tools, tc.want)
		}
	}
}

// The strategy has a second name in settings files and topic columns.
func TestStrategyMode(t *testing.T) {
	t.Parallel()
	filed := load(t, "researching:\n  strategy_mode: focused\n", nil, nil)
	asked, err := load(t, "", nil, nil).With(map[string]string{"researching.strategy_mode": "focused"})
	if got := filed.Researching.Strategy; got != "focused" {
		t.Errorf("the strategy of a file is %q", got)
	}
	if got := asked.Researching.Strategy; err != nil || got != "focused" {
		t.Errorf("the strategy that was asked for is %q, %v", got, err)
	}
	_, err = tryLoad(t, "researching:\n  strategy_mode: focused\n  strategy: balanced\n", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "is set twice") {
		t.Errorf("both names: %v", err)
	}
}

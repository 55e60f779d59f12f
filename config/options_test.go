package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
	"nightdesk/topicqueue"
)

var kbTools = []string{"rag_hybrid", "rag_naive", "query_item", "run_code"}

func medium() topicqueue.Options {
	return topicqueue.Options{
		Preset: "medium", Language: "en", KnowledgeBase: "handbook", DecomposeMode: "manual", SubTopics: 5, MaxParallel: 5, MaxIterations: 4,
		IterationMode: "flexible", MaxLoops: 1, QueueMaxLength: 7, NewTopicMinScore: 0.85, Tools: kbTools,
		CitationStyle: "anchors", QuotedWords: 900, OnUnsupported: "mark", Formats: []string{"html", "docx"},
		Duration: 45 * time.Minute, WritingTime: 9 * time.Minute, BlockSoft: 12 * time.Minute, BlockHard: 30 * time.Minute,
	}
}

// sized sets what the presets say about time and the words of a report without a model.
func sized(o *topicqueue.Options, duration, writing time.Duration, words int) {
	o.Duration, o.WritingTime, o.QuotedWords = duration*time.Minute, writing*time.Minute, words
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                        string
		file                        string
		env, flags                  map[string]string
		preset, language, kb, style string
		want                        func(*topicqueue.Options)
	}{
		{name: "medium by default", kb: "handbook", want: func(o *topicqueue.Options) {}},
		{name: "quick", preset: "quick", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.IterationMode, o.SubTopics, o.MaxIterations, o.MaxLoops, o.QueueMaxLength = "quick", "fixed", 1, 1, 0, 5
			sized(o, 15, 3, 600)
		}},
		{name: "deep", preset: "deep", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.IterationMode, o.SubTopics, o.MaxIterations, o.MaxLoops, o.QueueMaxLength = "deep", "fixed", 8, 7, 2, 12
			sized(o, 90, 15, 1800)
		}},
		{name: "auto", preset: "auto", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.DecomposeMode, o.SubTopics, o.MaxIterations, o.IterationMode, o.QueueMaxLength = "auto", "auto", 8, 6, "flexible", 12
			sized(o, 90, 15, 1800)
		}},
		{name: "configured preset, another asked for", flags: map[string]string{"preset": "auto"}, preset: "medium", kb: "handbook", want: func(o *topicqueue.Options) {}},
		{name: "set in file before any preset", file: "researching: {max_iterations: 5}\n", preset: "deep", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.IterationMode, o.SubTopics, o.MaxIterations, o.MaxLoops, o.QueueMaxLength = "deep", "fixed", 8, 5, 2, 12
			sized(o, 90, 15, 1800)
		}},
		{name: "set in environment", env: map[string]string{"NIGHTDESK_PLANNING_DECOMPOSE_INITIAL_SUBTOPICS": "3"}, preset: "deep", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.IterationMode, o.SubTopics, o.MaxIterations, o.MaxLoops, o.QueueMaxLength = "deep", "fixed", 3, 7, 2, 5
			sized(o, 90, 15, 1800)
		}},
		{name: "set by flag", flags: map[string]string{"researching.iteration_mode": "fixed"}, kb: "handbook",
			want: func(o *topicqueue.Options) { o.IterationMode = "fixed" }},
		{name: "mode set, number of that mode is the default", flags: map[string]string{"planning.decompose.mode": "auto"}, preset: "quick", kb: "handbook", want: func(o *topicqueue.Options) {
			o.Preset, o.IterationMode, o.DecomposeMode, o.SubTopics, o.MaxIterations, o.MaxLoops,
				o.QueueMaxLength = "quick", "fixed", "auto", 8, 1, 0, 12
			sized(o, 15, 3, 600)
		}},
		{name: "long queue stays", file: "queue: {max_length: 40}\n", kb: "handbook", want: func(o *topicqueue.Options) { o.QueueMaxLength = 40 }},
		{name: "no review", file: "researching: {max_loops: 0}\n", kb: "handbook", want: func(o *topicqueue.Options) { o.MaxLoops = 0 }},
		{name: "series", file: "researching: {execution_mode: series, max_parallel_topics: 9}\n", kb: "handbook", want: func(o *topicqueue.Options) { o.MaxParallel = 1 }},
		{name: "rephrase", file: "planning: {rephrase: {enabled: true}}\n", kb: "handbook", want: func(o *topicqueue.Options) { o.Rephrase, o.RephraseIterations = true, 3 }},
		{name: "no knowledge base, no tools", want: func(o *topicqueue.Options) { o.KnowledgeBase, o.Tools = "", []string{} }},
		{name: "configured knowledge base", flags: map[string]string{"kb_name": "handbook"}, want: func(o *topicqueue.Options) {}},
		{name: "pages without a knowledge base", env: map[string]string{"NIGHTDESK_RESEARCHING_ENABLE_OPEN_PAGE": "true"}, want: func(o *topicqueue.Options) { o.KnowledgeBase, o.Tools = "", []string{"open_page", "run_code"} }},
		{name: "a search engine brings opening pages", env: map[string]string{"SEARXNG_URL": "http://searxng:8080"}, want: func(o *topicqueue.Options) {
			o.KnowledgeBase, o.Tools = "", []string{"web_search", "open_page", "run_code"}
		}},
		{name: "search engine and knowledge base", env: map[string]string{"BRAVE_API_KEY": "k"}, kb: "handbook", want: func(o *topicqueue.Options) {
			o.Tools = []string{"rag_hybrid", "rag_naive", "query_item", "web_search", "open_page", "run_code"}
		}},
		{name: "a search engine, pages stay closed", env: map[string]string{"EXA_API_KEY": "k", "NIGHTDESK_RESEARCHING_ENABLE_OPEN_PAGE": "false"}, want: func(o *topicqueue.Options) {
			o.KnowledgeBase, o.Tools = "", []string{"web_search", "run_code"}
		}},
		{name: "a search engine that is not to be asked", env: map[string]string{"EXA_API_KEY": "k", "NIGHTDESK_RESEARCHING_ENABLE_WEB_SEARCH": "false"}, kb: "handbook", want: func(o *topicqueue.Options) {}},
		{name: "a tool switched off", env: map[string]string{"NIGHTDESK_RESEARCHING_ENABLE_RAG_NAIVE": "false"}, kb: "handbook", want: func(o *topicqueue.Options) { o.Tools = []string{"rag_hybrid", "query_item", "run_code"} }},
		{name: "papers without a knowledge base", env: map[string]string{"NIGHTDESK_RESEARCHING_ENABLE_PAPER_SEARCH": "true"}, want: func(o *topicqueue.Options) { o.KnowledgeBase, o.Tools = "", []string{"paper_search", "run_code"} }},
		{name: "language and style", language: "zh-Hans-CN", style: "numbered", kb: "handbook", want: func(o *topicqueue.Options) { o.Language, o.CitationStyle = "zh", "numbered" }},
		{name: "configured language and style", flags: map[string]string{"language": "de", "reporting.citation_style": "numbered"}, kb: "handbook", want: func(o *topicqueue.Options) { o.Language, o.CitationStyle = "de", "numbered" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, tc.file, tc.env, tc.flags)
			before := c.Effective()
			got, err := config.RunOptionsOf(c, tc.preset, tc.language, tc.kb, tc.style)
			if err != nil {
				t.Fatal(err)
			}
			want := medium()
			tc.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, c.Effective()); diff != "" {
				t.Errorf("resolving a run changed the configuration:\n%s", diff)
			}
		})
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	c := load(t, "", map[string]string{"EXA_API_KEY": "k"}, map[string]string{"kb_name": "handbook", "preset": "quick"})
	before := c.Effective()
	with, err := c.With(map[string]string{"preset": "medium", "limits.run_duration": "20m", "researching.strategy": "focused", "researching.sources": "kb", "language": " de "})
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.RunOptionsOf(with, "", "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Preset != "medium" || got.Duration != 20*time.Minute || got.SubTopics != 3 || got.Language != "de" || slices.Contains(got.Tools, "web_search") {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(before, c.Effective()); diff != "" {
		t.Errorf("the configuration itself was changed:\n%s", diff)
	}
	if _, err := c.With(map[string]string{"preset": "huge", "llm.model": "x", "limits.run_duration": "soon"}); err == nil || len(err.(config.Problems)) != 3 {
		t.Errorf("problems: %v", err)
	}
}

// For all presets and settings, a plan fits its queue and leaves room for two discoveries.
func TestRunOptions_QueueHoldsThePlan(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"1", "2", "3", "5", "8", "50"} {
		for _, preset := range []string{"quick", "medium", "deep", "auto"} {
			c := load(t, "", nil, map[string]string{"queue.max_length": "1", "planning.decompose.initial_subtopics": n, "planning.decompose.auto_max_subtopics": n})
			o, err := config.RunOptionsOf(c, preset, "", "", "")
			if err != nil || o.QueueMaxLength < o.SubTopics+2 {
				t.Errorf("%s with %s sub-topics: %+v, %v", preset, n, o, err)
			}
		}
	}
}

func TestRunOptions_Problems(t *testing.T) {
	t.Parallel()
	_, err := config.RunOptionsOf(load(t, "", nil, nil), "standard", "german!", "a\x00b", "footnotes")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`preset "standard": must be one of shallow, route, quick, medium, deep, auto`,
		`language "german!": must be a language tag`,
		`kb_name "a`, `reporting.citation_style "footnotes": must be one of anchors, numbered`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q: %v", want, err)
		}
	}
}

func BenchmarkRunOptions(b *testing.B) {
	c := load(b, "", nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.RunOptionsOf(c, "deep", "", "handbook", ""); err != nil {
			b.Fatal(err)
		}
	}
}

// The presets of answers set the path of a run and the limits of its conversation.
func TestAnsweringOptions(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load("", false, func(string) string { return "" },
		map[string]string{"answering.max_tool_iterations": "3"})
	if err != nil {
		t.Fatal(err)
	}
	for preset, want := range map[string]topicqueue.Options{
		"shallow": {Path: topicqueue.PathShallow, MaxTurns: 10, MaxToolCalls: 3, SubTopics: 1, MaxIterations: 1},
		"route":   {Path: topicqueue.PathRoute, MaxTurns: 10, MaxToolCalls: 3, SubTopics: 8, MaxIterations: 6},
		"quick":   {SubTopics: 1, MaxIterations: 1},
	} {
		o, err := config.RunOptionsOf(cfg, preset, "", "handbook", "")
		if err != nil {
			t.Fatal(err)
		}
		got := topicqueue.Options{Path: o.Path, MaxTurns: o.MaxTurns, MaxToolCalls: o.MaxToolCalls, SubTopics: o.SubTopics,
			MaxIterations: o.MaxIterations}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", preset, diff)
		}
	}
}

package reporting_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/reportingtest"
)

// One of a thing is spoken of in the singular.
func TestSingular(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		language string
		model    llm.Model
		want     []string
	}{
		"extractive": {"en", nil, []string{
			"This is what 1 source says on the topic, in 1 quote. The statement below is quoted word for word and followed by its reference.",
			"It holds 1 quote from 1 passage of 1 source."}},
		"model that fails": {"en", modelFunc(func(llm.Request) (string, error) { return "", errors.New("reset") }), []string{
			"It rests on 1 statement from 1 source.",
			"set out in the section above, with references to 1 passage.",
			"put together from 1 claim that was extracted from the sources before; it cites 1 passage of 1 source."}},
		"model that fails once": {"en", modelFunc(func(req llm.Request) (string, error) {
			if req.Prompt.Name == "section" {
				return "The log comes first [CIT-1-01].", nil
			}
			if req.Prompt.Name == "conclusion" {
				return "", errors.New("reset")
			}
			return writer(req)
		}), []string{"wrote it from 1 claim that was extracted", "The model failed at: conclusion; this part was put together"}},
		"extractive in Chinese":       {"zh", nil, []string{"本报告汇集了 1 个来源中与该主题有关的 1 条引文。", "共 1 条引文，出自 1 个来源的 1 处。"}},
		"model that fails in Chinese": {"zh", modelFunc(func(llm.Request) (string, error) { return "", errors.New("reset") }), []string{"各来源的内容见上文章节，共引用 1 处。"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, "")
			in.Run.Options.Language = tt.language
			in.Blocks = in.Blocks[:1]
			in.Blocks[0].Traces = in.Blocks[0].Traces[:1]
			in.Blocks[0].Traces[0].Claims = in.Blocks[0].Traces[0].Claims[:1]
			got, err := (&reporting.Reporter{Model: tt.model}).Report(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.Markdown, want) {
					t.Errorf("no %q in\n%s", want, got.Markdown)
				}
			}
		})
	}
}

// An extractive report says which words of the topic it has nothing on.
func TestUnspoken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, topic, want string }{
		{"en", "How do committed transactions survive a crash of the primary server?", ""},
		{"en", "Committed transactions under Kubernetes", "None of them mentions “Kubernetes” from the topic."},
		{"en", "Checkpoints, sharding, Kubernetes and tape libraries", "None of them mentions “sharding”, “Kubernetes” or “tape” from the topic."},
		{"en", "Replication guide of the primary", ""}, // a source is called so
		{"en", "Completely foreign gardening", ""},
		{"zh", "checkpoint 与 Kubernetes", "这些引文未提及主题中的“Kubernetes”。"},
	} {
		in := evidence(t, "")
		in.Run.Topic, in.Run.Options.Language = tt.topic, tt.language
		got, err := (&reporting.Reporter{}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(got.Markdown, "\n\n")
		opening, _, _ := strings.Cut(after, "\n\n")
		if tt.want == "" && (strings.Contains(opening, "mention") || strings.Contains(opening, "提及")) || !strings.HasSuffix(opening, tt.want) {
			t.Errorf("%s: opening %q, want %q", tt.topic, opening, tt.want)
		}
		for _, v := range reportingtest.CheckVerbatim(got.Markdown, sourceText(in)) {
			t.Error(v)
		}
	}
}

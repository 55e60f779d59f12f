package reporting_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
)

// One of a thing is spoken of in the singular.
func TestSingular(t *testing.T) {
	t.Parallel()
	unframed := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" {
			return writer(req)
		}
		return authored(req, func(title string) string {
			if title == "opening" || title == "conclusion" {
				return ""
			}
			return "The log comes first [CIT-1-01]."
		}), nil
	})
	for name, tt := range map[string]struct {
		language string
		model    llm.Model
		want     []string
	}{
		"extractive": {"en", nil, []string{
			"quoted word for word. No model judged whether they answer it.", "It quotes 1 passage from 1 document."}},
		"model that fails at the frame": {"en", unframed, []string{
			"It rests on 1 statement from 1 source.",
			"set out in the section above, with references to 1 passage."}},
		"model that fails once": {"en", modelFunc(func(req llm.Request) (string, error) {
			if req.Prompt.Name != "author" {
				return writer(req)
			}
			return authored(req, func(title string) string {
				if title == "conclusion" {
					return ""
				}
				return "The log comes first [CIT-1-01]."
			}), nil
		}), []string{"wrote it from 1 note on the sources;", "The model failed at: conclusion; this part was put together"}},
		"extractive in German":        {"de-CH", nil, []string{"## Bester Treffer", "## Quellen", "1 Abschnitt aus 1 Dokument"}},
		"extractive in Dutch":         {"nl", nil, []string{"## Best match", "It quotes 1 passage from 1 document. Its headings and notes are in English, since nightdesk does not have them in the language “nl”.*"}},
		"extractive in Chinese":       {"zh", nil, []string{"引用了 1 个文档的 1 个段落。"}},
		"model that fails in Chinese": {"zh", unframed, []string{"各来源的内容见上文章节，共引用 1 处。"}},
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

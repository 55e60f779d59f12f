package reporting_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const brief = `# Brief: {topic}

Say what has to be decided.

## Standby servers and replication

Which copies there are.

### Failover

How a standby takes over.

## Costs of a licence

What it costs.

## The log

What is written, and when.
`

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	got, err := template.Parse("\ufeff" + strings.ReplaceAll(brief, "\n", "\r\n") + "\n## Conclusion\n\nName the\nrisk.\n\n```\n## no heading\n```\n#hashtag\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "Brief: {topic}" || got.Introduction != "Say what has to be decided." || got.Conclusion != "Name the risk. ``` ## no heading ``` #hashtag" || len(got.Sections) != 3 {
		t.Errorf("%+v", got)
	}
	if s := got.Sections[0]; s.Title != "Standby servers and replication" || s.Instruction != "Which copies there are." || len(s.Subsections) != 1 || s.Subsections[0].Title != "Failover" || s.Subsections[0].Instruction != "How a standby takes over." {
		t.Errorf("%+v", s)
	}
}

func TestParseTemplateErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"empty":           {"", "line 1: there is no section"},
		"only a title":    {"# Title\n\ntext\n", "line 3: there is no section"},
		"front matter":    {"---\ntitle: x\n---\n## A\n", "line 1: a template has no front matter"},
		"two titles":      {"# A\n## B\n# C\n", "line 3: a title (#) stands at the beginning, once"},
		"too deep":        {"## A\n### B\n#### C\n", "line 3: a heading of level 4"},
		"same section":    {"## A risk\n\n## a Risk.\n", `line 3: there is a section "a Risk." already`},
		"same part":       {"## A\n### B\n### B\n", `line 3: the section "A" has a part "B" already`},
		"part of nothing": {"# T\n### B\n## A\n", "line 2: a part (###) stands in a section"},
		"part of frame":   {"## Conclusion\n### B\n## A\n", "line 2: a part (###) stands in a section"},
		"references":      {"## A\n## References\n", `line 2: "References" is written automatically`},
		"no text":         {"## A\n##\n", "line 2: a heading without text"},
		"long heading":    {"## " + strings.Repeat("a", 121) + "\n", "line 1: a heading of 121 characters"},
		"control":         {"## A\x1bB\n", "line 1: a heading with control characters"},
		"many parts":      {"## A\n### a\n### b\n### c\n### d\n### e\n### f\n### g\n", `line 8: the section "A" has more than 6 subsections`},
		"too large":       {"## A\n" + strings.Repeat("x", 20_000), "20005 bytes"},
		"bytes":           {"## A\n\xff", "not UTF-8"},
		"all are told":    {"## A\n#### B\n## A\n", "line 2: a heading of level 4: sections have two (##), their parts three (###)\nline 3: there is a section \"A\" already"},
		"not without end": {strings.Repeat("####\n#### x\n", 40), "and 60 more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := template.Parse(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// A template that is written down again is the same template.
func FuzzTemplate(f *testing.F) {
	f.Add(brief)
	f.Add("# {topic}\n## *A* [CIT-1-01](#x)\n```\n## B\n")
	f.Add("## Introduction\nx\n## <script>\n### | a | b |\n## Conclusion\ny\n")
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := template.Parse(text)
		if err != nil {
			return
		}
		text = written(&parsed)
		again, err := template.Parse(text)
		if len(text) <= 16<<10 && (err != nil || !reflect.DeepEqual(parsed, again)) {
			t.Errorf("%v\n%+v\n%+v", err, parsed, again)
		}
	})
}

// written returns a template as text. Every instruction gets a word of its own in front, so that it cannot begin something else.
func written(t *template.Template) string {
	var b strings.Builder
	part := func(heading, title string, instruction *string) {
		if *instruction != "" {
			*instruction = "Do: " + *instruction
		}
		if title != "" {
			b.WriteString(heading + " " + title + "\n")
		}
		b.WriteString(*instruction + "\n")
	}
	part("#", t.Title, &t.Introduction)
	for i := range t.Sections {
		s := &t.Sections[i]
		part("##", s.Title, &s.Instruction)
		for j := range s.Subsections {
			part("###", s.Subsections[j].Title, &s.Subsections[j].Instruction)
		}
	}
	part("##", "Conclusion", &t.Conclusion)
	return b.String()
}

// Headings of a template are shown as they are, whatever stands in them.
func TestTemplateHostileHeadings(t *testing.T) {
	t.Parallel()
	in := evidence(t, topicqueue.CitationAnchors)
	in.Run.Options.Template = "# <script> {topic} [x](javascript:y)\n## *A* [CIT-9-09](#ref-cit-9-09)\n### | log | b |\n## ![x](https://evil.example/a.png) standby\n"
	r, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	page, err := formats.HTML(formats.Report{Tree: r.Tree})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;script&gt;", "[x](javascript:y)</h1>", "*A* [CIT-9-09](#ref-cit-9-09)</h2>", "![x](https://evil.example/a.png) standby</h2>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if len(r.Fallbacks) > 0 || len(r.Outline.Sections) != 2 || r.Verification.Status != verification.StatusVerified {
		t.Errorf("%v, %d sections, %s", r.Fallbacks, len(r.Outline.Sections), r.Verification.Status)
	}
}

var levelTwo = regexp.MustCompile(`(?m)^## (.*)$`)

func sectionTitles(markdown string) (titles []string) {
	for _, m := range levelTwo.FindAllStringSubmatch(markdown, -1) {
		titles = append(titles, m[1])
	}
	return titles
}

// sectionText returns what stands below a heading.
func sectionText(markdown, title string) string {
	_, rest, _ := strings.Cut(markdown, "\n## "+title+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

func TestTemplateWithoutModel(t *testing.T) {
	t.Parallel()
	in := evidence(t, topicqueue.CitationAnchors)
	in.Run.Options.Template = brief
	r, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Standby servers and replication", "Costs of a licence", "The log", "Gaps", "References"}; !slices.Equal(sectionTitles(r.Markdown), want) {
		t.Errorf("sections %q", sectionTitles(r.Markdown))
	}
	for section, want := range map[string]string{
		"Standby servers and replication": "Failover promotes a standby server to primary.",
		"Costs of a licence":              "The research found nothing on this",
		"The log":                         "Recovery of a log of 16 MB",
	} {
		if text := sectionText(r.Markdown, section); !strings.Contains(text, want) {
			t.Errorf("%s: %s", section, text)
		}
	}
	if !strings.HasPrefix(r.Markdown, "# Brief: How does the database keep committed data when a server fails?\n") || len(r.Fallbacks) > 0 {
		t.Errorf("%v, %s", r.Fallbacks, r.Markdown[:80])
	}
	if r.Verification.Counts.Unsupported > 0 || r.Verification.Counts.FactsUncited > 0 {
		t.Errorf("%+v", r.Verification.Counts)
	}
	again, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
	if err != nil || again.Markdown != r.Markdown {
		t.Errorf("the same input gives another report, %v", err)
	}
}

// Every claim is given to exactly one section; the model says to which, and what it does not place stands where the words say.
func TestTemplateWithModel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		places   []prompts.OutlineSection
		fails    bool
		fallback string
	}{
		"placed": {places: []prompts.OutlineSection{{Title: "Costs of a licence", Claims: []int{1, 2}},
			{Title: "Standby servers and replication", Claims: []int{3}}}},
		"out of bounds": {places: []prompts.OutlineSection{{Title: "Weather", Claims: []int{1}},
			{Title: "Standby servers and replication", Claims: []int{-1, 0, 999}}}},
		"model fails": {fails: true, fallback: "outline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := evidence(t, topicqueue.CitationAnchors)
			in.Run.Options.Template = brief
			seen := map[string]map[string]bool{} // sections that a claim was given to
			model := modelFunc(func(req llm.Request) (string, error) {
				switch req.Prompt.Name {
				case "outline":
					if tc.fails {
						return "", errors.New("away")
					}
					body, err := json.Marshal(prompts.OutlineAnswer{Sections: tc.places})
					return strings.ReplaceAll(string(body), "null", "[]"), err
				case "author":
					if strings.Contains(req.Prompt.User, ": the opening") &&
						!strings.Contains(req.Prompt.User, "Say what has to be decided.") {
						t.Errorf("the introduction is asked for without its instruction: %s", req.Prompt.User)
					}
					return authored(req, func(title string) string {
						if title != "opening" && title != "conclusion" {
							return "" // its claims are shown as they are
						}
						return "The log is written first [CIT-1-01]."
					}), nil
				}
				return "{}", nil
			})
			r, err := (&reporting.Reporter{Model: model, Now: now, Parallel: 1}).Report(context.WithoutCancel(t.Context()), in)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{"Standby servers and replication", "Costs of a licence", "The log", "Conclusion", "Gaps", "References"}; !slices.Equal(sectionTitles(r.Markdown), want) {
				t.Errorf("sections %q", sectionTitles(r.Markdown))
			}
			for _, title := range []string{"Standby servers and replication", "Costs of a licence", "The log"} {
				text := sectionText(r.Markdown, title)
				for _, b := range in.Blocks {
					for _, trace := range b.Traces {
						for _, c := range trace.Claims {
							if strings.Contains(text, c.Text) && seen[c.Text] == nil {
								seen[c.Text] = map[string]bool{}
							}
							if strings.Contains(text, c.Text) {
								seen[c.Text][title] = true
							}
						}
					}
				}
			}
			for text, in := range seen {
				if len(in) > 1 {
					t.Errorf("%d sections say: %s", len(in), text)
				}
			}
			if len(seen) < 14 { // those that repeat others, and one with markup, are shown otherwise
				t.Errorf("%d claims are shown", len(seen))
			}
			costs := sectionText(r.Markdown, "Costs of a licence")
			if placed := strings.Contains(costs, "A transaction counts as committed"); placed != (name == "placed") {
				t.Errorf("costs: %s", costs)
			}
			if name != "placed" && !strings.Contains(costs, "found nothing") {
				t.Errorf("costs: %s", costs)
			}
			if slices.Contains(r.Fallbacks, "outline") != (tc.fallback != "") {
				t.Errorf("fallbacks %q", r.Fallbacks)
			}
			for _, s := range r.Outline.Sections {
				for _, id := range s.BlockIDs {
					if !strings.HasPrefix(id, "block_") {
						t.Errorf("the outline has %s", id)
					}
				}
			}
		})
	}
}

// A template that is none any more costs its sections, and not the report.
func TestTemplateUnreadable(t *testing.T) {
	t.Parallel()
	in := evidence(t, topicqueue.CitationAnchors)
	in.Run.Options.Template = "no section"
	r, err := (&reporting.Reporter{Now: now}).Report(t.Context(), in)
	if err != nil || len(r.Fallbacks) != 1 || !strings.Contains(r.Fallbacks[0], "there is no section") {
		t.Errorf("%v, %v", r.Fallbacks, err)
	}
}

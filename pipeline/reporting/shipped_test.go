package reporting_test

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

var (
	shownClaim    = regexp.MustCompile(`(?m)^(?:- )?\[(CIT-\d+-\d+)\] (.*)$`)
	markerShown   = regexp.MustCompile(`\[(CIT-\d+-\d+)\]`)
	numberedClaim = regexp.MustCompile(`(?m)^\d+[:：]`)
)

// dealer places the claims in turn in the sections, and writes each down with its marker.
type dealer []template.Section

func (d dealer) answer(req llm.Request) (string, error) {
	user := req.Prompt.User
	switch req.Prompt.Name {
	case "outline":
		a := prompts.OutlineAnswer{Form: "overview", Computations: []prompts.Computation{}, KeyClaims: []int{}}
		for i, s := range d {
			a.Sections = append(a.Sections, prompts.OutlineSection{Title: s.Title, BlockIDs: []string{}, Claims: []int{},
				Subsections: []prompts.OutlineSubsection{}})
			for c := i + 1; c <= len(numberedClaim.FindAllString(user, -1)); c += len(d) {
				a.Sections[i].Claims = append(a.Sections[i].Claims, c)
			}
		}
		body, err := json.Marshal(a)
		return string(body), err
	case "author":
		said := map[string]string{}
		for _, m := range shownClaim.FindAllStringSubmatch(user, -1) {
			said[m[1]] += strings.TrimRight(m[2], ".") + " [" + m[1] + "]. "
		}
		return authored(req, func(title string) string {
			_, part, _ := strings.Cut(user, "\""+title+"\"")
			if strings.Contains(user, "“"+title+"”") {
				_, part, _ = strings.Cut(user, "“"+title+"”")
			}
			part, _, _ = strings.Cut(part, "\n\n")
			text := ""
			for _, id := range markerShown.FindAllStringSubmatch(part, -1) {
				text += said[id[1]]
			}
			return cmp.Or(text, "A commit waits for the log [CIT-1-01].")
		}), nil
	}
	return `{"findings": []}`, nil
}

// Each template that comes with the program, in each language: a report has its sections, in their order, filled.
func TestShippedTemplates(t *testing.T) {
	t.Parallel()
	for _, name := range template.Names() {
		for _, language := range []string{"en", "zh"} {
			t.Run(name+"/"+language, func(t *testing.T) {
				t.Parallel()
				text, err := template.Text(name, language)
				if err != nil {
					t.Fatal(err)
				}
				parsed, err := template.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				in := evidence(t, topicqueue.CitationNumbered)
				in.Run.Options.Template, in.Run.Options.Language = text, language
				model := modelFunc(dealer(parsed.Sections).answer)
				got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Fallbacks) > 0 || got.Verification.Status != verification.StatusVerified {
					t.Errorf("%q, %s", got.Fallbacks, got.Verification.Status)
				}
				for i, s := range parsed.Sections {
					if titles := sectionTitles(got.Markdown); titles[i] != s.Title {
						t.Errorf("sections %q", titles)
					}
					if sectionText(got.Markdown, s.Title) == "" {
						t.Errorf("%s is empty", s.Title)
					}
				}
				isGolden(t, filepath.Join("templates", name+"."+language+".golden.md"), got.Markdown)
			})
		}
	}
	if _, err := template.Text("poem", "en"); err == nil || !strings.Contains(err.Error(), "briefing") {
		t.Errorf("%v", err)
	}
	if _, err := template.Text("notes", "de"); err == nil || !strings.Contains(err.Error(), "English") {
		t.Errorf("%v", err)
	}
}

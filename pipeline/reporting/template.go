package reporting

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// Limits of a template, whose text is stored with every run.
const (
	maxTemplate         = 16 << 10 // bytes
	maxTemplateSections = 24
	maxTemplateProblems = 20 // shown in an error
)

// Template defines the sections of a report and replaces the generated outline.
//
// It is Markdown. Each ## heading is the title of a section, and each ### heading that of a subsection. The text below
// a heading is the instruction for its writer. A # heading is the report's title, in which {topic} stands for the
// topic; the text below it is the instruction for the introduction. Sections named Introduction or Conclusion hold the
// instructions for these parts, which every report has. Headings within code are ignored.
type Template struct {
	Title        string // may contain "{topic}"; empty: the topic
	Introduction string // instruction
	Sections     []OutlineSection
	Conclusion   string // instruction
}

// ParseTemplate parses a template. The error lists up to 20 invalid lines.
func ParseTemplate(source string) (Template, error) {
	if !utf8.ValidString(source) {
		return Template{}, errors.New("the template is not UTF-8 text")
	}
	if len(source) > maxTemplate {
		return Template{}, fmt.Errorf("the template has %d bytes, but at most %d are allowed", len(source), maxTemplate)
	}
	p := templateParser{}
	p.into = &p.Introduction
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\ufeff")
	if strings.HasPrefix(source, "---\n") {
		p.wrong(1, "a template has no front matter: the title is a line that begins with \"# \"")
	}
	for _, c := range report.Chunks(source) {
		if c.Level > 0 {
			p.heading(c.Line, c.Level, c.Heading)
		}
		*p.into = text.Line(*p.into + " " + c.Body)
	}
	if len(p.Sections) == 0 && len(p.problems) == 0 {
		last := 1 + strings.Count(strings.TrimSpace(source), "\n")
		p.wrong(last, "there is no section: a line such as \"## Risks\" begins one")
	}
	if more := len(p.problems) - maxTemplateProblems; more > 0 {
		p.problems = append(p.problems[:maxTemplateProblems], fmt.Errorf("and %d more", more))
	}
	if len(p.problems) > 0 {
		return Template{}, errors.Join(p.problems...)
	}
	return p.Template, nil
}

// templateParser parses a template heading by heading.
type templateParser struct {
	Template
	into     *string // current instruction
	titled   bool
	framed   bool // in the introduction or conclusion, which have no subsections
	problems []error
}

func (p *templateParser) wrong(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (p *templateParser) heading(n, level int, title string) {
	switch {
	case title == "":
		p.wrong(n, "a heading without text")
	case utf8.RuneCountInString(title) > report.MaxTitleRunes:
		p.wrong(n, "a heading of %d characters, but at most %d are allowed", utf8.RuneCountInString(title),
			report.MaxTitleRunes)
	case strings.ContainsFunc(title, unicode.IsControl):
		p.wrong(n, "a heading with control characters")
	case level == 1:
		p.title(n, title)
	case level == 2:
		p.section(n, title)
	case level == 3:
		p.subsection(n, title)
	default:
		p.wrong(n, "a heading of level %d: sections have two (##), their parts three (###)", level)
	}
}

func (p *templateParser) title(n int, title string) {
	if p.titled || len(p.Sections) > 0 || p.framed {
		p.wrong(n, "a title (#) stands at the beginning, once: sections have two (##), their parts three (###)")
	}
	p.titled, p.Title = true, title
}

func (p *templateParser) section(n int, title string) {
	part := prompts.FrameOf(title)
	p.framed = part == prompts.Introduction || part == prompts.Conclusion
	switch {
	case part == prompts.Introduction:
		p.into = &p.Introduction
		return
	case part == prompts.Conclusion:
		p.into = &p.Conclusion
		return
	case part == prompts.OtherFrame:
		p.wrong(n, "%q is written automatically: rename the section, or remove it", title)
	case len(p.Sections) == maxTemplateSections:
		p.wrong(n, "more than %d sections", maxTemplateSections)
	case slices.ContainsFunc(p.Sections, func(s OutlineSection) bool { return report.SameTitle(s.Title, title) }):
		p.wrong(n, "there is a section %q already", title)
	}
	p.Sections = append(p.Sections, OutlineSection{Title: title, BlockIDs: []string{}, Subsections: []OutlineSubsection{}})
	p.into = &p.Sections[len(p.Sections)-1].Instruction
}

func (p *templateParser) subsection(n int, title string) {
	if len(p.Sections) == 0 || p.framed {
		p.wrong(n, "a part (###) stands in a section (##) of the report's own")
		return
	}
	s := &p.Sections[len(p.Sections)-1]
	switch {
	case len(s.Subsections) == maxSubsections:
		p.wrong(n, "the section %q has more than %d subsections", s.Title, maxSubsections)
	case slices.ContainsFunc(s.Subsections, func(o OutlineSubsection) bool { return report.SameTitle(o.Title, title) }):
		p.wrong(n, "the section %q has a part %q already", s.Title, title)
	}
	s.Subsections = append(s.Subsections, OutlineSubsection{Title: title})
	p.into = &s.Subsections[len(s.Subsections)-1].Instruction
}

// outlineFor returns the outline of a report on topic.
func (t Template) outlineFor(topic string) Outline {
	o := Outline{Title: topic, Introduction: t.Introduction, Conclusion: t.Conclusion}
	if t.Title != "" {
		o.Title = strings.ReplaceAll(t.Title, "{topic}", topic)
	}
	for _, s := range t.Sections {
		s.BlockIDs, s.Subsections = []string{}, slices.Clone(s.Subsections)
		o.Sections = append(o.Sections, s)
	}
	return o
}

//go:embed templates
var shipped embed.FS

// ShippedTemplates returns the names of the embedded templates.
func ShippedTemplates() []string {
	files, err := shipped.ReadDir("templates/en")
	if err != nil {
		panic(err) // the templates are embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}

// ShippedTemplate returns the text of an embedded template. language: that of the report. The error lists the available
// templates or languages.
func ShippedTemplate(name, language string) (string, error) {
	text, err := shipped.ReadFile(path.Join("templates", language, name+".md"))
	if err == nil {
		return string(text), nil
	}
	if !slices.Contains(ShippedTemplates(), name) {
		return "", fmt.Errorf("there is no template %q; there are %s", name, strings.Join(ShippedTemplates(), ", "))
	}
	return "", fmt.Errorf("the template %q is there for reports in English (en) and Chinese (zh), not in %q", name,
		language)
}

// Package template reads templates of reports, and has those that come with the program. Entry points: Parse and Text.
package template

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

// MaxSubsections is the maximum number of subsections of a section, also in an outline.
const MaxSubsections = 6

// Limits of a template, whose text is stored with every run.
const (
	maxSize     = 16 << 10 // bytes
	maxSections = 24
	maxProblems = 20 // shown in an error
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
	Sections     []Section
	Conclusion   string // instruction
}

// Section is a section of a template, or a subsection, which has none.
type Section struct {
	Title, Instruction string
	Subsections        []Section
}

// Parse parses a template. The error lists up to 20 invalid lines.
func Parse(source string) (Template, error) {
	if !utf8.ValidString(source) {
		return Template{}, errors.New("the template is not UTF-8 text")
	}
	if len(source) > maxSize {
		return Template{}, fmt.Errorf("the template has %d bytes, but at most %d are allowed", len(source), maxSize)
	}
	p := parser{}
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
	if more := len(p.problems) - maxProblems; more > 0 {
		p.problems = append(p.problems[:maxProblems], fmt.Errorf("and %d more", more))
	}
	if len(p.problems) > 0 {
		return Template{}, errors.Join(p.problems...)
	}
	return p.Template, nil
}

// parser parses a template heading by heading.
type parser struct {
	Template
	into     *string // current instruction
	titled   bool
	framed   bool // in the introduction or conclusion, which have no subsections
	problems []error
}

func (p *parser) wrong(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (p *parser) heading(n, level int, title string) {
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

func (p *parser) title(n int, title string) {
	if p.titled || len(p.Sections) > 0 || p.framed {
		p.wrong(n, "a title (#) stands at the beginning, once: sections have two (##), their parts three (###)")
	}
	p.titled, p.Title = true, title
}

func (p *parser) section(n int, title string) {
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
	case len(p.Sections) == maxSections:
		p.wrong(n, "more than %d sections", maxSections)
	case slices.ContainsFunc(p.Sections, func(s Section) bool { return report.SameTitle(s.Title, title) }):
		p.wrong(n, "there is a section %q already", title)
	}
	p.Sections = append(p.Sections, Section{Title: title})
	p.into = &p.Sections[len(p.Sections)-1].Instruction
}

func (p *parser) subsection(n int, title string) {
	if len(p.Sections) == 0 || p.framed {
		p.wrong(n, "a part (###) stands in a section (##) of the report's own")
		return
	}
	s := &p.Sections[len(p.Sections)-1]
	switch {
	case len(s.Subsections) == MaxSubsections:
		p.wrong(n, "the section %q has more than %d subsections", s.Title, MaxSubsections)
	case slices.ContainsFunc(s.Subsections, func(o Section) bool { return report.SameTitle(o.Title, title) }):
		p.wrong(n, "the section %q has a part %q already", s.Title, title)
	}
	s.Subsections = append(s.Subsections, Section{Title: title})
	p.into = &s.Subsections[len(s.Subsections)-1].Instruction
}

//go:embed en zh
var shipped embed.FS

// Names returns the names of the embedded templates.
func Names() []string {
	files, err := shipped.ReadDir("en")
	if err != nil {
		panic(err) // the templates are embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".md")
	}
	return names
}

// Text returns the text of an embedded template. language: that of the report. The error lists the available
// templates or languages.
func Text(name, language string) (string, error) {
	text, err := shipped.ReadFile(path.Join(language, name+".md"))
	if err == nil {
		return string(text), nil
	}
	if !slices.Contains(Names(), name) {
		return "", fmt.Errorf("there is no template %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return "", fmt.Errorf("the template %q is there for reports in English (en) and Chinese (zh), not in %q", name,
		language)
}

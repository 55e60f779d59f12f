package prompts

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed phrases.yaml
var phrasesFile []byte

// phrases are the words by which texts of models and of users are read. The file describes each list.
var phrases = func() (p struct {
	Refusals       []string
	Preambles      []string
	SourceHeadings []string `yaml:"source_headings"`
	Introductions  []string
	Conclusions    []string
	Ends           []string
}) {
	if err := yaml.UnmarshalWithOptions(phrasesFile, &p, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("read phrases.yaml: %v", err)) // a bug in the file, which tests would find
	}
	return p
}()

// startsWith reports whether a text starts with one of the phrases, in any case.
func startsWith(s string, phrases []string) bool {
	const longest = 100 // bytes
	s = strings.ReplaceAll(strings.ToLower(s[:min(len(s), longest)]), "’", "'")
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.HasPrefix(s, phrase) })
}

// Refuses reports whether a model's text is a refusal to do the task.
func Refuses(s string) bool { return startsWith(s, phrases.Refusals) }

// Introduces reports whether a line of a model introduces the text below it: "Here is the section:".
func Introduces(line string) bool {
	const longest = 180 // bytes; a longer line is text
	colon := strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
	exclaims := strings.HasSuffix(line, "!") || strings.HasSuffix(line, "！")
	return len(line) <= longest && (colon || exclaims) && startsWith(line, phrases.Preambles)
}

// FramePart is a part of a report besides its sections.
type FramePart int

// The parts of a report besides its sections.
const (
	NoFrame FramePart = iota // a section
	Introduction
	Conclusion
	OtherFrame // references or gaps
)

// FrameOf returns the part that a heading names, in any language of reports.
func FrameOf(heading string) FramePart {
	heading = strings.ToLower(heading)
	for i, list := range [][]string{phrases.Introductions, phrases.Conclusions, phrases.Ends} {
		if slices.Contains(list, heading) {
			return Introduction + FramePart(i)
		}
	}
	return NoFrame
}

// HeadsSources reports whether a heading of a model is that of a list of sources.
func HeadsSources(heading string) bool {
	return slices.Contains(phrases.SourceHeadings, strings.ToLower(heading))
}

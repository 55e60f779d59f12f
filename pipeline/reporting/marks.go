package reporting

import (
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/prompts"
)

// marked appends the mark for unsupported text to a sentence, or to the last cell of a table row.
func (m *material) marked(raw string, row bool) string {
	mark := m.mark()
	if cells, ok := strings.CutSuffix(strings.TrimRight(raw, " "), "|"); row && ok {
		return strings.TrimRight(cells, " ") + mark + " |"
	}
	return strings.TrimRight(raw, " ") + mark
}

func (m *material) mark() string { return ` \[` + m.texts.Unsupported.String() + `\]` }

// problem describes in one sentence, for the repair prompt, why a sentence is unsupported.
func (m *material) problem(f support.Findings, j support.Judged) string {
	if f.Quotation.Result == support.Absent {
		return m.texts.Misquoted.With(prompts.V{"Text": f.Quotation.Missing})
	}
	if j.Wrong != "" {
		return j.Wrong
	}
	for _, g := range f.Figures {
		if g.Instead != "" {
			return m.texts.NoFigure.With(prompts.V{"Text": g.Text, "Instead": g.Instead})
		}
	}
	return m.texts.NotSaid.String()
}

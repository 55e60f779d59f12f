package reporting

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/recurring"
)

// changeWords are the texts of the part that says what has changed.
type changeWords struct {
	heading                       func(date string) string
	asOf                          func(date string) string
	none                          func(date string) string
	fresh, changed, taken, open   string
	before, gone, unsaid, because string // because: format of a block that stays open
	unchecked                     func(n int) string
}

var englishChanges = changeWords{
	heading: func(date string) string { return "What changed since " + date },
	asOf:    func(date string) string { return "as of " + date },
	none: func(date string) string {
		return "No change: what the report of " + date + " says still stands in its sources, and nothing new was found."
	},
	fresh: "New", changed: "Changed", taken: "Withdrawn", open: "Still open",
	before: "Before", gone: "the source is no longer there", unsaid: "the source no longer says it", because: ": ",
	unchecked: func(n int) string {
		return count(n, "source", "sources") + " could not be asked again; what was found there before is taken to hold."
	},
}

var chineseChanges = changeWords{
	heading: func(date string) string { return "自 " + date + " 以来的变化" },
	asOf:    func(date string) string { return "截至 " + date },
	none: func(date string) string {
		return "没有变化：" + date + " 的报告所述内容仍见于其来源，未发现新内容。"
	},
	fresh: "新增", changed: "变更", taken: "撤回", open: "仍未解决",
	before: "此前", gone: "来源已不存在", unsaid: "来源不再如此表述", because: "：",
	unchecked: func(n int) string {
		return count(n, "个来源", "个来源") + "无法再次核查；沿用此前在其中发现的内容。"
	},
}

// whatChanged writes the part that a report opens with, with canonical markers; "" when the run goes on from no other.
func (w *writer) whatChanged() string {
	c := w.changes
	if c == nil {
		return ""
	}
	words := w.words.changes
	parts := []string{"## " + words.heading(c.Since)}
	if c.None() {
		parts = append(parts, words.none(c.Since))
	}
	list := func(heading string, lines []string) {
		if len(lines) > 0 {
			parts = append(parts, "### "+heading, strings.Join(lines, "\n"))
		}
	}
	var fresh, changed, taken, open []string
	for _, s := range c.New {
		fresh = append(fresh, "- "+said(s))
	}
	for _, ch := range c.Changed {
		line := "- "
		if ch.Old.Value != "" && ch.New.Value != "" {
			line += "**" + citation.Escape(ch.Old.Value) + " → " + citation.Escape(ch.New.Value) + "** "
		}
		changed = append(changed, line+said(ch.New)+"  \n  "+words.before+": "+said(ch.Old))
	}
	for _, t := range c.Withdrawn {
		why := words.unsaid
		if t.Gone {
			why = words.gone
		}
		taken = append(taken, "- "+said(t.Said)+" ("+why+")")
	}
	for _, o := range c.Open {
		open = append(open, "- **"+citation.Escape(o.Title)+"**"+words.because+citation.Escape(o.Reason))
	}
	list(words.changed, changed)
	list(words.fresh, fresh)
	list(words.taken, taken)
	list(words.open, open)
	if c.Unchecked > 0 {
		parts = append(parts, words.unchecked(c.Unchecked))
	}
	return strings.Join(parts, "\n\n")
}

// row shows a row of a table as a line.
func row(text string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "|")
	if !ok {
		return text
	}
	var cells []string
	for cell := range strings.SplitSeq(strings.TrimSuffix(inner, "|"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, " · ")
}

// said shows what a source says in its own words, where these are a whole sentence, else as the claim has it, with its citations.
func said(s recurring.Said) string {
	text := s.Statement
	if first, _ := utf8.DecodeRuneInString(s.Quote); !unicode.IsLower(first) && strings.HasSuffix(strings.TrimRight(s.Quote, `"”’)`), ".") {
		text = s.Quote
	}
	text = citation.Escape(row(text))
	for _, id := range s.Citations {
		if parsed, ok := citation.ParseID(id); ok {
			text += " [" + parsed.String() + "]"
		}
	}
	return text
}

package reporting

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/recurring"
	"nightdesk/prompts"
)

// whatChanged writes the part that a report opens with, with canonical markers; "" when the run goes on from no other.
func (w *writer) whatChanged() string {
	c := w.changes
	if c == nil {
		return ""
	}
	since := prompts.V{"Date": c.Since}
	parts := []string{"## " + w.texts.Changes.With(since)}
	if c.None() {
		parts = append(parts, w.texts.NoChanges.With(since))
	}
	list := func(heading prompts.Text, lines []string) {
		if len(lines) > 0 {
			parts = append(parts, "### "+heading.String(), strings.Join(lines, "\n"))
		}
	}
	var fresh, changed, taken, open []string
	for _, s := range c.New {
		fresh = append(fresh, "- "+where(s)+said(s))
	}
	for _, ch := range c.Changed {
		line := "- " + where(ch.New)
		if ch.Old.Value != "" && ch.New.Value != "" {
			line += "**" + citation.Escape(ch.Old.Value) + " → " + citation.Escape(ch.New.Value) + "** "
		}
		changed = append(changed, line+said(ch.New)+"  \n  "+w.texts.Before.String()+": "+said(ch.Old))
	}
	for _, t := range c.Withdrawn {
		why := w.texts.Unsaid
		if t.Gone {
			why = w.texts.Gone
		}
		taken = append(taken, "- "+where(t.Said)+said(t.Said)+" ("+why.String()+")")
	}
	for _, o := range c.Open {
		open = append(open, "- **"+citation.Escape(o.Title)+"**: "+citation.Escape(o.Reason))
	}
	list(w.texts.Changed, changed)
	list(w.texts.New, fresh)
	list(w.texts.Withdrawn, taken)
	list(w.texts.Open, open)
	if c.Unchecked > 0 {
		parts = append(parts, w.texts.NotAsked.With(prompts.V{"N": c.Unchecked}))
	}
	return strings.Join(parts, "\n\n")
}

// where names the document of a sentence that does not name it: "Its revenue was 12 million" tells nothing by itself.
func where(s recurring.Said) string {
	if s.Title == "" || strings.Contains(s.Quote, s.Title) {
		return ""
	}
	return "*" + citation.Escape(s.Title) + "*: "
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

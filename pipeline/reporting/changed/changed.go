// Package changed writes what is new, changed and withdrawn since the last report on a topic. Entry point: Section.
package changed

import (
	"cmp"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// Section returns the section about changes at the start of a report that continues another.
func Section(c recurring.Changes, texts *prompts.Texts) []report.Block {
	var parts []string
	if c.None() {
		parts = append(parts, texts.NoChanges.With(prompts.V{"Date": c.Since}))
	}
	list := func(heading prompts.Text, lines []string) {
		if len(lines) > 0 {
			parts = append(parts, "### "+heading.String(), strings.Join(lines, "\n"))
		}
	}
	var moved, open []string
	var fresh, taken []toldLine
	for _, s := range c.New {
		fresh = append(fresh, toldLine{s, ""})
	}
	for _, ch := range c.Changed {
		moved = append(moved, changed(ch, texts))
	}
	for _, t := range c.Withdrawn {
		why := texts.Unsaid
		switch {
		case t.Gone:
			why = texts.Gone
		case t.Computed:
			why = texts.Outdated
		}
		taken = append(taken, toldLine{t.Said, " (" + why.String() + ")"})
	}
	for _, o := range c.Open {
		open = append(open, "- **"+markdown.Escape(o.Title)+"**: "+markdown.Escape(o.Reason))
	}
	list(texts.Changed, moved)
	list(texts.New, underTitles(fresh))
	list(texts.Withdrawn, underTitles(taken))
	list(texts.Open, open)
	if c.Unchecked > 0 {
		parts = append(parts, texts.NotAsked.With(prompts.V{"N": c.Unchecked}))
	}
	return report.ParseWhole(strings.Join(parts, "\n\n"))
}

// toldLine is an item of a list, with the reason for it.
type toldLine struct {
	recurring.Said
	why string
}

// underTitles renders a list, with items of one document grouped under its title.
func underTitles(list []toldLine) (lines []string) {
	of := func(t toldLine) string { return t.Title + "\n" + cmp.Or(t.Document, t.URL) + t.why }
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[0].Title != "" && of(list[n]) == of(list[0]) {
			n++
		}
		if n == 1 {
			lines = append(lines, "- "+where(list[0].Said)+said(list[0].Said)+list[0].why)
		} else {
			lines = append(lines, "- *"+markdown.Escape(list[0].Title)+"*"+about(list[0].Said)+list[0].why)
			for _, t := range list[:n] {
				lines = append(lines, "  - "+said(t.Said))
			}
		}
		list = list[n:]
	}
	return lines
}

// about returns the publisher and date of a document in parentheses.
func about(s recurring.Said) string {
	if s.About == "" {
		return ""
	}
	return " (" + markdown.Escape(s.About) + ")"
}

// where returns the document's title for a sentence that does not contain it. "Its revenue was 12 million", for
// example, needs the title.
func where(s recurring.Said) string {
	if strings.Contains(s.Quote, s.Title) {
		return ""
	}
	return titled(s)
}

// titled returns the title of a document as the start of a line.
func titled(s recurring.Said) string {
	if s.Title == "" {
		return ""
	}
	return "*" + markdown.Escape(s.Title) + "*: "
}

// said renders a source's statement with its citations: the quote if it is a whole sentence, otherwise the claim's
// text.
func said(s recurring.Said) string {
	text, first := s.Statement, []rune(s.Quote + " ")[0]
	stops := strings.HasSuffix(strings.TrimRight(s.Quote, `"”’)`), ".")
	if !s.Noted && !unicode.IsLower(first) && stops {
		text = s.Quote
	}
	return markdown.Escape(text) + markers(s)
}

// markers renders the citations of a source's statement.
func markers(s recurring.Said) (list string) {
	for _, id := range s.Citations {
		if parsed, ok := citation.ParseID(id); ok {
			list += " [" + parsed.String() + "]"
		}
	}
	return list
}

// changed renders a change: the current statement with citations, and the former one. Of a table row, these are what
// the values describe with both values, and the former value.
func changed(ch recurring.Change, texts *prompts.Texts) string {
	before := "\n  - " + texts.Before.String() + ": "
	if ch.What != "" {
		before += markdown.Escape(ch.Old.Value) + markers(ch.Old)
		return "- " + titled(ch.New) + movedRow(ch) + markers(ch.New) + before
	}
	start := where(ch.New)
	if ch.Old.Value != "" && ch.New.Value != "" {
		start = titled(ch.New) + movedValue(ch) + " "
	}
	return "- " + start + said(ch.New) + before + said(ch.Old)
}

// movedRow renders what the values of a row describe, and both values.
func movedRow(ch recurring.Change) string { return markdown.Escape(ch.What) + ": " + movedValue(ch) }

func movedValue(ch recurring.Change) string {
	return "**" + markdown.Escape(ch.Old.Value) + " → " + markdown.Escape(ch.New.Value) + "**"
}

package report

import "strings"

// levels of headings within a section
const minLevel, maxLevel = 3, 4

// Clean prepares blocks that a model wrote for a section of this title: headings have clean titles and level 3 or 4,
// and the section's own title is removed. It cuts the text at a heading for which ends is true.
func Clean(blocks []Block, title string, ends func(heading string) bool) (out []Block) {
	shift := minLevel - topLevel(blocks, title)
	for _, b := range blocks {
		heading := b.heading()
		switch {
		case heading == "" && b.Kind != KindHeading:
			out = append(out, b)
		case heading != "" && ends(heading):
			return Edits{}.Apply(out)
		case b.Kind != KindHeading && (len(out) > 0 || !SameTitle(heading, title)):
			out = append(out, b)
		case b.Kind == KindHeading && heading != "" && !SameTitle(heading, title):
			b.Level = min(max(b.Level+shift, minLevel), maxLevel)
			b.Sentences = []Sentence{{Text: Escape(heading)}}
			out = append(out, b)
		}
	}
	return Edits{}.Apply(out)
}

// heading returns the clean title of a heading, or of a paragraph that is only bold text; "" for others.
func (b Block) heading() string {
	if len(b.Sentences) != 1 {
		return ""
	}
	words := b.Sentences[0].Text
	if b.Kind == KindParagraph {
		inner, bold := strings.CutPrefix(strings.TrimSuffix(words, ":"), "**")
		inner, closes := strings.CutSuffix(inner, "**")
		if !bold || !closes || strings.Contains(inner, "*") || len(inner) > MaxTitleRunes {
			return ""
		}
		words = inner
	} else if b.Kind != KindHeading {
		return ""
	}
	return CleanTitle(words)
}

// topLevel returns the highest level of the headings other than the title; minLevel if there are none.
func topLevel(blocks []Block, title string) int {
	top := 7
	for _, b := range blocks {
		if words := b.heading(); b.Kind == KindHeading && words != "" && !SameTitle(words, title) {
			top = min(top, b.Level)
		}
	}
	if top == 7 {
		return minLevel
	}
	return top
}

// minRepeatWords is the minimum length of a repetition, in words. Shorter sentences may be equal by chance.
const minRepeatWords = 5

// Repeatable reports whether a sentence with this key is long enough to be a repetition.
func Repeatable(key string) bool { return CountWords(key) >= minRepeatWords }

// DropRepeated removes the sentences at the end of paragraphs that repeat an earlier one or one of said, to which it
// adds those of blocks, and returns them. What stands above a list or table introduces it and stays. Nothing is removed
// if no text would be left.
func DropRepeated(blocks []Block, said map[string]bool) (left []Block, dropped []string) {
	for i, b := range blocks {
		fresh, n := 0, 0 // sentences up to the last new one, and all
		EachStatement(blocks[i:i+1], func(s Statement) {
			key := Key(s.Text())
			if n++; !said[key] || !Repeatable(key) {
				fresh = n
			}
			said[key] = true
		})
		last := i+1 == len(blocks) || blocks[i+1].Kind == KindParagraph || blocks[i+1].Kind == KindHeading
		if b.Kind == KindParagraph && last {
			for _, s := range b.Sentences[fresh:] {
				dropped = append(dropped, s.Text)
			}
			b.Sentences = b.Sentences[:fresh:fresh]
		}
		if !b.empty() {
			left = append(left, b)
		}
	}
	if left = withoutEmptyHeadings(left); len(left) == 0 {
		return blocks, nil
	}
	return left, dropped
}

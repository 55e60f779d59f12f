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

// DropRepeated removes sentences of paragraphs that repeat an earlier one or one of said, to which it adds those of
// blocks, and returns them. Nothing is removed if no text would be left.
func DropRepeated(blocks []Block, said map[string]bool) (left []Block, dropped []string) {
	again := Clone(blocks)
	var list []item
	for i := range again {
		if again[i].Kind != KindParagraph { // a list may depend on the sentence that introduces it
			list = append(list, item{heading: again[i].Kind == KindHeading})
			EachStatement(again[i:i+1], func(s Statement) { said[Key(s.Text())] = true })
			continue
		}
		EachStatement(again[i:i+1], func(s Statement) {
			key := Key(s.Text())
			list = append(list, item{key: key, again: said[key] && Repeatable(key), sentence: s})
			said[key] = true
		})
	}
	var edits Edits
	for i, gone := range spare(list) {
		if gone {
			dropped = append(dropped, list[i].sentence.Text())
			edits.Replace(list[i].sentence)
		}
	}
	if left = edits.Apply(again); len(dropped) > 0 && len(left) > 0 {
		return left, dropped
	}
	return blocks, nil
}

// item is a sentence of a paragraph, or another block.
type item struct {
	key      string // equal for sentences with the same words
	again    bool   // repeats an earlier one
	heading  bool
	sentence Statement
}

// spare returns which items can be removed. The text after an item may refer back to it, which no rule can detect.
// Repeated items are therefore removed only at the end of their part, or if the item before them equals the last of
// them.
func spare(list []item) []bool {
	gone := make([]bool, len(list))
	for i := 0; i < len(list); i++ {
		end := i
		for end < len(list) && list[end].again {
			end++
		}
		if end < len(list) && !list[end].heading {
			for end > i && (i == 0 || list[end-1].key != list[i-1].key) {
				end--
			}
		}
		for ; i < end; i++ {
			gone[i] = true
		}
	}
	return gone
}

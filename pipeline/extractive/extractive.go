// Package extractive holds rules about language that pipeline/evidence, pipeline/recurring and pipeline/citation/support
// still use: sentences that stand alone, words with weights, statements that say the same. Nothing else may use it: it goes
// with them. Sentences, words and ranking for all others are in pipeline/text.
//
// Texts are in the form that package knowledge extracts: paragraphs separated by blank lines, list items beginning
// with "- " or "1. ", code between ``` fences, table rows beginning with "|". Offsets are bytes into the given text. All
// functions are pure and safe for concurrent use; foreign text may make them return nothing, never fail.
package extractive

// Sentence is one sentence of a text.
type Sentence struct {
	Text      string // verbatim: text[Start:End], may contain line breaks
	Start     int
	End       int
	Paragraph int  // ordinal of its paragraph in the text
	Complete  bool // stands alone as prose: begins like a sentence, ends like one, has a verb's worth of words, is no heading, code, table row, menu or label
}

// Sentences cuts text into its sentences, in order. Never fails; code fences and tables yield nothing.
//
// Every list item and every heading is a paragraph of its own, and the item's marker belongs to no sentence; nor does
// a label such as "Note:" at the beginning of a paragraph. A Complete sentence has 5 to 60 words, or 8 to 200
// characters of Chinese, Japanese or Korean.
func Sentences(text string) []Sentence {
	var out []Sentence
	for _, p := range parse(text) {
		for _, s := range p.sentences {
			out = append(out, s.Sentence)
		}
	}
	return out
}

// Package extractive is the desk without a model: it cuts text into sentences and finds those that say something about
// a topic. Planning, researching and reporting use it for their extractive forms, and their similarity measure.
//
// Texts are in the form that package knowledge extracts: paragraphs separated by blank lines, list items beginning
// with "- " or "1. ", code between ``` fences, table rows beginning with "|". Offsets are bytes into the given text.
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
func Sentences(text string) []Sentence { return nil }

// Terms returns the content words of text: folded, stemmed (English), without stop words, in order, with repetitions.
// Chinese, Japanese and Korean text yields character bigrams.
func Terms(text string) []string { return nil }

// Similarity compares two texts by their content words: 0 nothing in common, 1 the same words. Symmetric.
func Similarity(a, b string) float64 { return 0 }

// Salient returns at most limit sentences of text that say most about query, in the order of the text: complete ones
// only, no near repetitions. A sentence that leans on the one before it ("This ...", "It ...") comes with it, as one
// span of one paragraph, or not at all. query: words of topic and block title, natural language.
func Salient(text, query string, limit int) []Sentence { return nil }

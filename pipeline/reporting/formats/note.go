package formats

import (
	"strings"

	"nightdesk/pipeline/text"
)

const (
	maxPassage  = 600 // runes of a passage that is shown beside a citation
	maxPassages = 12  // of one reference
)

// passage returns the passage that most likely bears out a sentence: the one with which it has the most words in
// common.
func (n Note) passage(sentence string) (best Passage) {
	score := -1.0
	for _, p := range n.passages() {
		if s := text.Similarity(sentence, p.Quote); s > score {
			best, score = p, s
		}
	}
	return best
}

// passages returns those that are shown, each in one line.
func (n Note) passages() []Passage {
	var out []Passage
	for _, p := range n.Passages {
		if p.Quote = text.Clip(text.Line(p.Quote), maxPassage); p.Quote != "" && len(out) < maxPassages {
			p.Before, p.After = text.Line(p.Before), text.Line(p.After)
			out = append(out, p)
		}
	}
	return out
}

// maxSentence bounds the text before a citation that is compared.
const maxSentence = 1500 // bytes

// sentenceEnd returns what of a text can belong to its last sentence.
func sentenceEnd(text string) string {
	text = strings.ToValidUTF8(lastBytes(text), "")
	trimmed := strings.TrimRight(text, " .。!?！？")
	if i := strings.LastIndexAny(trimmed, ".。!?！？"); i >= 0 && i+1 < len(trimmed) && (trimmed[i] != '.' || trimmed[i+1] == ' ') {
		return strings.ToValidUTF8(text[i+1:], "")
	}
	return text
}

// lastBytes returns as much of the end of a text as is compared.
func lastBytes(text string) string { return text[max(0, len(text)-maxSentence):] }

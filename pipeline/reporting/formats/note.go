package formats

import (
	"strings"

	"nightdesk/pipeline/text"
)

const (
	maxPassage  = 600 // length of a passage shown with a citation, in runes
	maxPassages = 12  // passages of one reference
)

// passage returns the passage that most likely supports a sentence: the most similar one.
func (n Note) passage(sentence string) (best Passage) {
	score := -1.0
	for _, p := range n.passages() {
		if s := text.Similarity(sentence, p.Quote); s > score {
			best, score = p, s
		}
	}
	return best
}

// passages returns the passages to show, each on one line.
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

// maxSentence is the maximum length of the compared text before a citation.
const maxSentence = 1500 // bytes

// sentenceEnd returns the last sentence of a text.
func sentenceEnd(text string) string {
	text = strings.ToValidUTF8(lastBytes(text), "")
	trimmed := strings.TrimRight(text, " .。!?！？")
	i := strings.LastIndexAny(trimmed, ".。!?！？")
	if i >= 0 && i+1 < len(trimmed) && (trimmed[i] != '.' || trimmed[i+1] == ' ') {
		return strings.ToValidUTF8(text[i+1:], "")
	}
	return text
}

// lastBytes returns the last maxSentence bytes of a text.
func lastBytes(text string) string { return text[max(0, len(text)-maxSentence):] }

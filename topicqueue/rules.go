package topicqueue

import (
	"cmp"
	"strings"

	"github.com/kljensen/snowball/english"
)

// Duplicate reports whether two titles name the same topic: they have the same content words, apart from inflection and
// order. Numbers, years and names are words, so "EU banks 2024" is not "UK banks 2025". A missed duplicate is merged
// when the report is written, but a refused topic is lost. Symmetric. Blank titles are duplicates of nothing.
func Duplicate(a, b string) bool {
	key := TitleKey(a)
	return key != "" && key == TitleKey(b)
}

// TitleKey returns the form of a title that all its duplicates share; empty for a blank title.
func TitleKey(title string) string {
	var words, filler []string
	for _, w := range canonicalWords(title) {
		switch {
		case stopWords[w]:
		case fillerWords[w]:
			filler = append(filler, w)
		default:
			words = append(words, english.Stem(w, false))
		}
	}
	if len(words) == 0 {
		words = filler
	}
	return cmp.Or(joinSet(words), TopicKey(title))
}

// Judge decides on proposals, in order, for a queue that holds blocks. An accepted proposal becomes a block with the
// next number; the others are refused with a reason. maxLength limits all blocks of the run.
func Judge(blocks []BlockTitle, proposals []SubTopic, maxLength int) []Admission {
	known := append([]BlockTitle(nil), blocks...)
	out := make([]Admission, 0, len(proposals))
	for _, p := range proposals {
		a := Admission{Title: strings.Join(strings.Fields(p.Title), " ")}
		switch twin := findDuplicate(known, a.Title); {
		case a.Title == "":
			a.Answer = AdmissionEmpty
		case twin != "":
			a.Answer, a.BlockID = AdmissionDuplicate, twin
		case len(known) >= maxLength:
			a.Answer = AdmissionFull
		default:
			a.Answer, a.BlockID = AdmissionAdded, BlockID(len(known)+1)
			known = append(known, BlockTitle{ID: a.BlockID, Title: a.Title})
		}
		out = append(out, a)
	}
	return out
}

func findDuplicate(blocks []BlockTitle, title string) string {
	for _, b := range blocks {
		if Duplicate(b.Title, title) {
			return b.ID
		}
	}
	return ""
}

var (
	stopWords = wordSet(`a an and are as at be by do does for from how in into is it its of on or that the their this to
		was were what when where which who why will with`)
	// fillerWords describe the kind of text that a title announces, not its subject.
	fillerWords = wordSet(`analysis analyzing aspects brief comprehensive detailed discussion examination examining
		exploration exploring guide insights introduction investigation key main overview review study summary survey
		understanding`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

package topicqueue

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// duplicateSimilarity is the minimum Jaccard index at which two titles name the same topic. It is high on purpose: a
// missed duplicate is merged when the report is written, but a refused topic is lost.
const duplicateSimilarity = 0.85

// Duplicate reports whether two titles name the same topic. They do if they are equal after folding, or have the same
// content words apart from inflection and order. Numbers, years, names and acronyms must agree exactly, so that "EU
// banks 2024" is not "UK banks 2025", and "unsupervised" is not "supervised". Symmetric. Blank titles are duplicates
// of nothing.
func Duplicate(a, b string) bool {
	ka, kb := TopicKey(a), TopicKey(b)
	if ka == "" || kb == "" {
		return false
	}
	if ka == kb {
		return true
	}
	wa, wb := titleWords(a), titleWords(b)
	if jaccard(wa, wb) < duplicateSimilarity {
		return false
	}
	onlyA, onlyB := missing(wa, wb), missing(wb, wa)
	for _, w := range onlyA {
		if wa[w] || opposed(w, onlyB) {
			return false
		}
	}
	for _, w := range onlyB {
		if wb[w] {
			return false
		}
	}
	return true
}

// jaccard returns the share of common words, 0 for two empty sets. Source: Jaccard index (Jaccard 1912).
func jaccard(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if _, ok := b[w]; ok {
			common++
		}
	}
	if union := len(a) + len(b) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
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

// opposed reports whether w and one of the others differ only by a prefix, which may reverse the meaning.
func opposed(w string, others []string) bool {
	for _, o := range others {
		long, short := w, o
		if len(long) < len(short) {
			long, short = short, long
		}
		if len(short) >= 3 && strings.HasSuffix(long, short) {
			return true
		}
	}
	return false
}

func missing(from, in map[string]bool) []string {
	var out []string
	for w := range from {
		if _, ok := in[w]; !ok {
			out = append(out, w)
		}
	}
	return out
}

// titleWords returns the stemmed content words of a title. The value is true for a number, name or acronym, which a
// duplicate must contain exactly. Chinese, Japanese and Korean text becomes pairs of characters.
func titleWords(title string) map[string]bool {
	tokens := strings.FieldsFunc(norm.NFKC.String(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !strings.ContainsRune(".+#-_", r)
	})
	plainCase := false // some long word is in lower case, so capitals are significant
	for _, t := range tokens {
		r, _ := utf8.DecodeRuneInString(t)
		plainCase = plainCase || (len(t) >= 4 && unicode.IsLower(r))
	}
	words, filler := map[string]bool{}, map[string]bool{}
	for i, t := range tokens {
		t = strings.Trim(t, ".-_")
		if t == "" {
			continue
		}
		low := strings.ToLower(t)
		switch {
		case hasCJK(t):
			for _, w := range pairs(low) {
				words[w] = hasDigit(w)
			}
		case stopWords[low]:
		case fillerWords[low]:
			filler[low] = false
		default:
			words[english.Stem(low, false)] = hasDigit(t) || isName(t, i > 0 && plainCase)
		}
	}
	if len(words) == 0 {
		return filler
	}
	return words
}

// isName reports whether a word is written like a name or an acronym. capitals: a leading capital is enough.
func isName(t string, capitals bool) bool {
	for i, r := range t {
		if unicode.IsUpper(r) && (i > 0 || capitals) {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return strings.IndexFunc(s, unicode.IsDigit) >= 0 }

func hasCJK(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}) >= 0
}

// pairs splits a mixed word into pairs of neighbouring CJK characters and whole runs of other characters.
func pairs(s string) []string {
	var out []string
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out = append(out, string(run))
		}
		run = run[:0]
	}
	var prev rune
	for _, r := range s {
		if !hasCJK(string(r)) {
			run, prev = append(run, r), 0
			continue
		}
		flush()
		if prev != 0 {
			out = append(out, string([]rune{prev, r}))
		}
		prev = r
	}
	flush()
	if len(out) == 0 && prev != 0 {
		out = append(out, string(prev))
	}
	return out
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

package extractive

import (
	"strings"
	"unicode/utf8"
)

// grammatical reports what can be told cheaply about the sentence's build: a finite verb, a subject where one is
// needed, not a row of capitalised entries. Languages without a word list get the benefit of the doubt.
func grammatical(ws []word) bool {
	lang := languageOf(ws)
	long, capitals := 0, 0
	for i, w := range ws {
		if i > 0 && utf8.RuneCountInString(w.raw) > 3 {
			long++
			if capital(w.raw) {
				capitals++
			}
		}
	}
	if long >= 3 && lang != german && capitals*10 > long*7 || lang == german && capitals*10 > long*9 {
		return false
	}
	if lang == unknown && ascii(ws) || lang == english {
		return finite(ws) && !subjectless(ws)
	}
	return true
}

func ascii(ws []word) bool {
	for _, w := range ws {
		for i := range len(w.low) {
			if w.low[i] >= utf8.RuneSelf {
				return false
			}
		}
	}
	return true
}

// subjectless reports the style of reference entries, which say what the item above them does: "Returns the number of
// rows.", "Same as rows().", "True if the file is open.", "Whether to wait."
func subjectless(ws []word) bool {
	asks := strings.HasPrefix(ws[len(ws)-1].after, "?")
	if len(ws) < 2 {
		return true
	}
	first, second := ws[0].low, ws[1].low
	if ws[0].after != "" {
		return false
	}
	if entryNoun[first] && !verbSoon(ws) || auxiliary[first] && !asks && first != "do" && first != "don't" && first != "don’t" {
		return true
	}
	if len(first) > 3 && first[len(first)-1] == 's' && !hasSuffixAny(first, "ss", "us", "is", "as") && objectNext[second] {
		return true
	}
	if _, ok := thirdPerson(first); ok && (objectWord[second] || len(second) > 4 && strings.HasSuffix(second, "ly") || !verbSoon(ws)) {
		return true
	}
	if _, ok := thirdPerson(second); ok && len(ws) > 2 && strings.HasSuffix(first, "ly") && len(first) > 4 && (objectWord[ws[2].low] || stopWords[ws[2].low]) {
		return true // "Conditionally emits the record."
	}
	if preposition[first] || subordinators[first] { // "On the server side, specifies how many ...", "If it is empty, returns 0."
		for i := 2; i < len(ws)-1; i++ {
			if !strings.HasSuffix(ws[i-1].after, ",") {
				continue
			}
			_, verb := thirdPerson(ws[i].low)
			if next := ws[i+1]; verb && next.raw != "" && (objectWord[next.low] || digit(next.raw[0]) || capital(next.raw)) {
				return true
			}
			break
		}
	}
	if len(first) > 4 && strings.HasSuffix(first, "ed") && (second == "when" || second == "if" || second == "by" || second == "for" || second == "to" || second == "as" || second == "after") {
		return true
	}
	switch first {
	case "return", "returned", "returning", "whether", "same", "like", "used", "equivalent", "specifies", "contains", "returns", "raised",
		"raises", "yields", "optional", "useful", "suitable", "intended", "deprecated", "synonym", "alias", "defaults":
		return true
	case "true", "false", "none", "null":
		return second == "if" || second == "when" || second == "by" || second == "otherwise"
	}
	return false
}

// objectNext is objectWord without the words that can also follow a plural at the beginning: "Files that ...".
var objectNext = set(`the a an its their any each whether`)

// verbSoon reports a verb that can belong to the noun at the beginning: "Type inference determines ...".
func verbSoon(ws []word) bool {
	for i := 1; i < len(ws) && i < 7; i++ {
		if subordinators[ws[i].low] {
			return false
		}
		if _, ok := thirdPerson(ws[i].low); ok || auxiliary[ws[i].low] || irregular[ws[i].low] || verbs[ws[i].low] && ws[i-1].low != "to" {
			return i+1 < len(ws) // "Tuple of the field names."
		}
	}
	return false
}

package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// worth is the part of quality that one sentence brings.
func (s *sentence) worth(weight map[string]float64, st stemmer) float64 {
	v := 0.0
	if len(s.words) == 0 {
		return v
	}
	low := flat(s.Text)
	if question(s.Text) {
		v -= 0.6
	}
	if defines(s, weight, st) {
		v += 0.35
	}
	v += lengthWorth(s) + informationWorth(s)
	switch {
	case hasPrefixAny(low, exampleStart) || strings.Contains(low, "for example") || strings.Contains(low, "e.g."):
		v -= 0.15
	}
	if imperative(s.words) {
		v -= 0.4
		if s.first { // the entry of a list: "Remove the object from the set."
			v -= 0.3
		}
	}
	v -= 0.12 * float64(min(3, variables(s.words)))
	if bareSubject(s, weight, st) {
		v -= 0.2
	}
	if r, _ := utf8.DecodeRuneInString(s.Text); unicode.IsLower(r) {
		v -= 0.2
	}
	if strings.Contains(low, "(see ") || strings.Contains(low, " in section ") || strings.Contains(low, " in chapter ") {
		v -= 0.2
	}
	for _, w := range s.words {
		switch w.low {
		case "i", "my", "i've", "i'm":
			v -= 0.2
		case "we", "our", "us":
			v -= 0.04
		case "you", "your":
			v -= 0.05
		}
	}
	if strings.Contains(s.Text, "://") {
		v -= 0.15
	}
	if strings.HasSuffix(strings.TrimRight(s.Text, "\"'”’) "), "!") {
		v -= 0.1
	}
	return max(v, -0.95)
}

var exampleStart = []string{"for example", "for instance", "suppose", "consider", "imagine", "say ", "assume", "if you want", "if you need", "if you are", "note that"}

// Imperative reports a sentence that gives an instruction: "Use ...", "Join ...".
func Imperative(sentence string) bool {
	ws := words(sentence)
	return len(ws) > 0 && imperative(ws)
}

// imperative reports an instruction: "Use ...", "Join ...", but not "Partition pruning is ...".
func imperative(ws []word) bool {
	if !verbs[ws[0].low] || auxiliary[ws[0].low] {
		return false
	}
	for _, w := range ws[1:min(4, len(ws))] {
		if _, ok := thirdPerson(w.low); ok || auxiliary[w.low] {
			return false
		}
	}
	return true
}

// variables counts the single letters that stand for something in an example that is not quoted: "the write to a",
// "V and T".
func variables(ws []word) int {
	n := 0
	for i, w := range ws {
		if len(w.raw) == 1 && (w.raw != "A" || i > 0) && w.raw != "a" && w.raw != "I" && !digit(w.raw[0]) && w.after != "." ||
			w.raw == "a" && (w.after != "" || i+1 < len(ws) && (auxiliary[ws[i+1].low] || preposition[ws[i+1].low])) {
			n++
		}
	}
	return n
}

// bareSubject reports "The callback is ...": a definite noun without anything that says which one, and none that the
// query asks about.
func bareSubject(s *sentence, weight map[string]float64, st stemmer) bool {
	if len(s.words) < 3 || s.words[0].low != "the" {
		return false
	}
	next := s.words[2].low
	_, verb := thirdPerson(next)
	return (auxiliary[next] || verb) && weight[st.stem(s.words[1].low)] == 0
}

// definer are the words that make "X is a ..." of a subject.
var definer = set(`is are means refers denotes consists provides represents describes stands allows lets supports enables
	controls specifies determines defines implements ensures guarantees was were`)

// defines reports a subject of at most five words that holds a term of the query, followed by a defining verb.
func defines(s *sentence, weight map[string]float64, st stemmer) bool {
	known := false
	for i, w := range s.words {
		if i > 6 {
			return false
		}
		if definer[w.low] {
			return known && i > 0
		}
		if w.after != "" && !strings.Contains(w.after, ")") && w.after != "\"" && w.after != "”" || w.low == "that" || w.low == "which" || auxiliary[w.low] {
			return false
		}
		if w.raw != "" && weight[st.stem(w.low)] > 0 {
			known = true
		}
	}
	return false
}

// lengthWorth prefers 10 to 32 words.
func lengthWorth(s *sentence) float64 {
	n := len(s.words)
	if wideShare(s.Text) > 0.3 {
		n = len(s.Text) / 6 // three bytes a character, about two characters a word
	}
	switch {
	case n < 7:
		return -0.25
	case n < 10:
		return -0.1
	case n <= 32:
		return 0
	case n <= 42:
		return -0.1
	}
	return -0.3
}

// informationWorth rewards numbers, names and identifiers, up to 0.2.
func informationWorth(s *sentence) float64 {
	v := 0.0
	for i, w := range s.words {
		if w.raw == "" {
			continue
		}
		r := rune(w.raw[0])
		switch {
		case unicode.IsDigit(r):
			v += 0.05
		case i > 0 && (identifierLike(w.raw) || capital(w.raw)):
			v += 0.03
		}
	}
	return min(v, 0.2)
}

package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	snowball "github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Terms returns the content words of text: folded, stemmed (English), without stop words, in order, with repetitions.
// Chinese, Japanese and Korean text yields character bigrams.
//
// Names from code count whole and by parts: "sync.Mutex" yields sync.mutex, sync and mutex. Numbers are kept, without
// thousands separators; a unit that is written onto its number is parted from it. Hyphens part words.
func Terms(text string) []string { return stemmer{}.all(text) }

// all is Terms with a memory that several texts share.
func (st stemmer) all(text string) []string {
	var out []string
	scan(text, func(t token) {
		for _, term := range st.terms(t) {
			out = append(out, term.text)
		}
	})
	return out
}

// term is one content word.
type term struct {
	text string
	part bool // of a name that counts whole as well
}

// stemmer remembers stems, because a text repeats its words. Not for concurrent use.
type stemmer map[string]string

// maxTerm is the length in bytes above which a word is no word but data, and is left out.
const maxTerm = 80

// homograph are names that are stop words but for their capitals.
var homograph = set(`Go IT US WHO`)

// terms returns the content words in one token; none for a stop word.
func (st stemmer) terms(t token) []term {
	if t.wide {
		return wideTerms(t.text)
	}
	if len(t.text) > maxTerm {
		return nil
	}
	text := strings.TrimFunc(fold(t.text), func(r rune) bool { return r == '\'' })
	if stopWords[text] {
		if homograph[t.text] {
			return []term{{text: text}}
		}
		return nil
	}
	if !strings.ContainsAny(text, "._/:'-,0123456789#+") {
		whole := st.stem(text)
		if utf8.RuneCountInString(text) < 2 && !(t.text >= "B" && t.text <= "Z") {
			return nil
		}
		out := []term{{text: whole}}
		if parts := camelParts(t.text); len(parts) > 1 {
			out[0].text = text
			out = st.appendParts(out, parts)
		}
		return out
	}
	return st.compound(t.text, text)
}

// compound returns the terms of a word with marks or digits inside. raw keeps the capitals that part camelCase.
func (st stemmer) compound(raw, text string) []term {
	text = strings.Trim(text, "_")
	if digit(lead(text)) {
		return number(text)
	}
	if strings.ContainsAny(text, "#+") {
		return []term{{text: text}}
	}
	if body, ok := strings.CutSuffix(text, "'s"); ok && !stopWords[body] {
		text = body
		raw = raw[:len(raw)-len("s")]
	}
	if i := strings.IndexByte(text, '\''); i > 0 && i <= 2 && i+1 < len(text) { // l'eau, d'un, qu'il
		text, raw = text[i+1:], text[i+1:]
	}
	parts := strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune("._/:'’-,", r) })
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 && !strings.ContainsAny(text, "._/:-,") {
		if stopWords[text] {
			return nil
		}
		return []term{{text: st.stem(text)}}
	}
	if !strings.ContainsAny(text, "._/:") { // hyphens alone: write-ahead is two words
		return st.appendParts(nil, parts)
	}
	out := st.appendParts([]term{{text: text}}, parts)
	for i := 1; i < len(parts); i++ {
		if c := camelParts(parts[i]); len(c) > 1 {
			out = st.appendParts(out, c)
		}
	}
	return out
}

// appendParts appends the parts of a word; they are marked as parts when out holds the whole.
func (st stemmer) appendParts(out []term, parts []string) []term {
	whole := len(out) > 0
	for _, p := range parts {
		p = fold(p)
		if p == "" || stopWords[p] || len(p) < 2 && !digit(p[0]) {
			continue
		}
		out = append(out, term{text: st.stem(p), part: whole})
	}
	return out
}

// number returns a number without thousands separators, apart from the unit that is written onto it: 64KB, 1.5x.
func number(text string) []term {
	n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' && r < utf8.RuneSelf && r != '.' && r != ',' })
	digits := text
	var out []term
	unit := ""
	if i := strings.IndexFunc(text, unicode.IsLetter); i > 0 && len(text)-i <= 3 && strings.IndexFunc(text[i:], unicode.IsDigit) < 0 {
		digits, unit = text[:i], text[i:]
	} else if n >= 0 && strings.ContainsAny(text, "-/:") { // 2024-01-31, 24/7, 10-20
		for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-/:", r) }) {
			out = append(out, number(p)...)
		}
		return out
	}
	digits = strings.Trim(digits, ".,-/:'_")
	if i := strings.IndexByte(digits, ','); i > 0 && len(digits)-i == 4 || strings.Count(digits, ",") > 1 {
		digits = strings.ReplaceAll(digits, ",", "")
	}
	if digits != "" {
		out = append(out, term{text: digits})
	}
	if len(unit) > 1 && !stopWords[unit] && unit != "st" && unit != "nd" && unit != "rd" && unit != "th" {
		out = append(out, term{text: unit})
	}
	return out
}

func lead(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// camelParts parts getElementById, but not the names of things that are written in two capitals, like GitHub.
func camelParts(s string) []string {
	var parts []string
	start, prev := 0, rune(0)
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(prev) {
			parts = append(parts, s[start:i])
			start = i
		}
		prev = r
	}
	parts = append(parts, s[start:])
	first, _ := utf8.DecodeRuneInString(s)
	if len(parts) == 1 || len(parts) == 2 && (unicode.IsUpper(first) || len(parts[0]) < 2) {
		return nil
	}
	return parts
}

// fold lower-cases a word and brings it into one Unicode form.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.ReplaceAll(strings.ToLower(norm.NFKC.String(s)), "’", "'")
		}
	}
	return strings.ToLower(s)
}

// stem returns the English stem of a folded word. Words with other letters than a to z are left as they are.
func (st stemmer) stem(w string) string {
	if s, ok := st[w]; ok {
		return s
	}
	s := w
	if len(w) > 2 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
		if s = irregularStem[w]; s == "" {
			s = snowball.Stem(w, true)
		}
	}
	st[w] = s
	return s
}

// irregularStem joins forms that the stemmer parts, where manuals and papers use both.
var irregularStem = map[string]string{
	"indices": "index", "matrices": "matrix", "vertices": "vertex",
	"setting": "setting", "settings": "setting", "children": "child", "men": "man", "women": "woman", "mice": "mous", "criteria": "criterion", "phenomena": "phenomenon",
	"analyses": "analysi", "analysis": "analysi", "written": "write", "wrote": "write", "ran": "run", "running": "run", "chosen": "choos", "chose": "choos",
	"built": "build", "sent": "send", "kept": "keep", "held": "hold", "lost": "lose", "thrown": "throw", "threw": "throw",
	"grew": "grow", "grown": "grow", "fell": "fall", "fallen": "fall", "rose": "rise", "risen": "rise", "began": "begin", "begun": "begin",
}

// wideTerms returns the bigrams of a run of wide characters, without those made of grammar alone.
func wideTerms(s string) []term {
	rs := []rune(norm.NFKC.String(s))
	if len(rs) == 1 {
		if wideStopRune(rs[0]) {
			return nil
		}
		return []term{{text: string(rs)}}
	}
	out := make([]term, 0, len(rs)-1)
	for i := 0; i+1 < len(rs); i++ {
		if wideStopRune(rs[i]) || wideStopRune(rs[i+1]) || wideStopPairs[string(rs[i:i+2])] || unicode.Is(unicode.Hiragana, rs[i]) && unicode.Is(unicode.Hiragana, rs[i+1]) {
			continue
		}
		out = append(out, term{text: string(rs[i : i+2])})
	}
	return out
}

func wideStopRune(r rune) bool {
	return strings.ContainsRune("的了是在和与及或也都就而这那之其被把怎什么哪吗呢をはがのにでと", r)
}

// wideStopPairs ask, and say nothing of what is asked.
var wideStopPairs = set(`如何 为何 為何 何时 何處 何处 多少 有何`)

// stemmed returns the stems of a word list as a set.
func stemmed(list string) map[string]bool {
	st := stemmer{}
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[st.stem(w)] = true
	}
	return out
}

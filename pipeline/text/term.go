package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	snowball "github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Terms returns the content words of s in order, with repetitions: folded, stemmed (English; Porter 2, 2001), without
// stop words. Chinese, Japanese, Korean and Thai yield pairs of characters.
//
// Names from code yield the whole and its parts: "sync.Mutex" yields sync.mutex, sync and mutex. Numbers are kept,
// without thousands separators; a unit attached to a number is separated from it. Hyphens separate words. A word in
// capitals, such as "US" or "IT", is never a stop word.
func Terms(s string) []string {
	var out []string
	scan(s, func(t token) { out = appendTerms(out, t) })
	return out
}

// maxTerm is the maximum length of a word in bytes. Longer words are data and are left out.
const maxTerm = 80

// appendTerms appends the content words of one token, or nothing for a stop word.
func appendTerms(out []string, t token) []string {
	if t.wide {
		return appendPairs(out, t.text)
	}
	if len(t.text) > maxTerm {
		return out
	}
	low := strings.Trim(fold(t.text), "'")
	switch {
	case stopWords[low]:
		if len(t.text) > 1 && strings.ToUpper(t.text) == t.text {
			out = append(out, low)
		}
		return out
	case strings.ContainsAny(low, "._/:'-,0123456789#+"):
		return appendCompound(out, t.text, low)
	case utf8.RuneCountInString(low) < 2 && !(t.text >= "B" && t.text <= "Z"): // vitamin C, the language R
		return out
	}
	if parts := camelParts(t.text); len(parts) > 1 {
		return appendParts(append(out, low), parts)
	}
	return append(out, Stem(low))
}

// appendCompound appends the terms of a word that contains marks or digits. raw keeps the capitals, which separate the
// parts of camelCase names.
func appendCompound(out []string, raw, low string) []string {
	low = strings.Trim(low, "_")
	if low == "" {
		return out
	}
	if digit(low[0]) {
		return appendNumber(out, low)
	}
	if strings.ContainsAny(low, "#+") { // c++, c#
		return append(out, low)
	}
	if body, ok := strings.CutSuffix(low, "'s"); ok && !stopWords[body] {
		low, raw = body, raw[:len(raw)-len("s")]
	}
	if i := strings.IndexByte(low, '\''); i > 0 && i <= 2 && i+1 < len(low) { // l'eau, d'un, qu'il
		low, raw = low[i+1:], low[i+1:]
	}
	parts := strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune("._/:'’-,", r) })
	if !strings.ContainsAny(low, "._/:") { // only hyphens: write-ahead is two words
		return appendParts(out, parts)
	}
	out = append(out, low)
	for _, p := range parts {
		out = appendParts(out, append([]string{p}, camelParts(p)...))
	}
	return out
}

func appendParts(out, parts []string) []string {
	for _, p := range parts {
		p = fold(p)
		if p == "" || stopWords[p] || len(p) < 2 && !digit(p[0]) {
			continue
		}
		out = append(out, Stem(p))
	}
	return out
}

// appendNumber appends a number without thousands separators, and separately the unit attached to it, as in 64KB or
// 1.5x.
func appendNumber(out []string, low string) []string {
	digits, unit := low, ""
	if i := strings.IndexFunc(low, unicode.IsLetter); i > 0 && len(low)-i <= 3 && !strings.ContainsAny(low[i:], "0123456789") {
		digits, unit = low[:i], low[i:]
	} else if strings.ContainsAny(low, "-/:") { // 2024-01-31, 24/7, 10-20
		for _, p := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune("-/:", r) }) {
			if digit(p[0]) {
				out = appendNumber(out, p)
			} else {
				out = append(out, Stem(p))
			}
		}
		return out
	}
	digits = strings.Trim(digits, ".,-/:'_")
	if i := strings.IndexByte(digits, ','); i > 0 && len(digits)-i == 4 || strings.Count(digits, ",") > 1 {
		digits = strings.ReplaceAll(digits, ",", "")
	}
	if digits != "" {
		out = append(out, digits)
	}
	switch unit {
	case "", "st", "nd", "rd", "th":
	default:
		if len(unit) > 1 && !stopWords[unit] {
			out = append(out, unit)
		}
	}
	return out
}

// camelParts splits a name such as getElementById, but not one of two capitalised parts such as GitHub.
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

// fold converts a word to lower case and to one Unicode form.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.ReplaceAll(strings.ToLower(norm.NFKC.String(s)), "’", "'")
		}
	}
	return strings.ToLower(s)
}

// stems caches the results of Stem, because texts repeat words and a report compares each text with many. It is cleared
// when it is full.
var stems = struct {
	sync.RWMutex
	of map[string]string
}{of: map[string]string{}}

const maxStems = 1 << 16

// Stem returns the English stem of a folded word. It leaves words with letters other than a to z unchanged.
func Stem(w string) string {
	if len(w) < 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
		return w
	}
	stems.RLock()
	s, ok := stems.of[w]
	stems.RUnlock()
	if ok {
		return s
	}
	s = snowball.Stem(w, true)
	stems.Lock()
	if len(stems.of) >= maxStems {
		clear(stems.of)
	}
	stems.of[strings.Clone(w)] = s
	stems.Unlock()
	return s
}

// appendPairs appends the overlapping pairs in a run of wide characters, except pairs with a grammatical character. A
// run of one character yields that character.
func appendPairs(out []string, s string) []string {
	rs := []rune(norm.NFKC.String(s))
	if len(rs) == 1 && !grammar(rs[0]) {
		return append(out, string(rs))
	}
	for i := 0; i+1 < len(rs); i++ {
		if !grammar(rs[i]) && !grammar(rs[i+1]) {
			out = append(out, string(rs[i:i+2]))
		}
	}
	return out
}

// grammar reports whether r is a character that occurs between content words and seldom in them: Chinese and Japanese
// particles, and characters of question words.
func grammar(r rune) bool {
	return strings.ContainsRune("的了是在和与及或也都就而这那之其被把怎什么哪吗呢をはがのにでと", r)
}

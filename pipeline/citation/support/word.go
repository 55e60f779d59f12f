package support

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
)

// word is a word of a text, or two neighbouring characters of a script without spaces.
type word struct {
	start, end int
	raw        string
	low        string
	terms      []string // content words in it, stemmed; none: a stop word
}

func (w word) term() string {
	if len(w.terms) == 0 {
		return ""
	}
	return w.terms[0]
}

func (w word) number() bool { return w.raw[0] >= '0' && w.raw[0] <= '9' }

func (w word) capital() bool {
	r, _ := utf8.DecodeRuneInString(w.raw)
	return unicode.IsUpper(r)
}

// code reports a word that is written like a name from code, an acronym or a model number.
func (w word) code() bool {
	upper, lower, digits, marks := 0, 0, 0, 0
	for i, r := range w.raw {
		switch {
		case unicode.IsUpper(r):
			if i > 0 || lower == 0 {
				upper++
			}
		case unicode.IsDigit(r):
			digits++
		case r == '_' || r == '.':
			marks++
		case unicode.IsLetter(r):
			lower++
		}
	}
	first := 0
	if w.capital() {
		first = 1
	}
	return upper > first && upper+lower > 1 || digits > 0 && upper+lower > 0 || marks > 0 && upper+lower > 1
}

// stems remembers the content words of words, because texts repeat them.
type stems map[string][]string

func (st stems) of(raw string) []string {
	key := raw
	terms, known := st[key]
	if !known {
		if raw == "found" { // whose stem is that of founded
			raw = "find"
		}
		terms = extractive.Terms(raw)
		for i, t := range terms {
			if same := sameWord[t]; same != "" {
				terms[i] = same
			}
		}
		st[key] = terms
	}
	return terms
}

// words cuts a text into words. Hyphens part, points and underscores within names do not.
func (st stems) words(s string) []word {
	var out []word
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case wide(r):
			next, nextSize := utf8.DecodeRuneInString(s[i+size:])
			if wide(next) {
				raw := s[i : i+size+nextSize]
				out = append(out, word{start: i, end: i + len(raw), raw: raw, low: raw, terms: st.of(raw)})
			}
			i += size
		case wordRune(r):
			end := i + size
			for end < len(s) {
				r, size := utf8.DecodeRuneInString(s[end:])
				if !wordRune(r) && !(strings.ContainsRune(".'’_", r) && inner(s, end, size)) && !unicode.Is(unicode.Mn, r) {
					break
				}
				end += size
			}
			raw := s[i:end]
			low := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
			low = strings.TrimSuffix(low, "'s")
			w := word{start: i, end: end, raw: raw, low: low}
			if len(raw) <= 80 {
				w.terms = st.of(raw)
			}
			out = append(out, w)
			i = end
		default:
			i += size
		}
	}
	return out
}

// inner reports that letters or digits stand on both sides of the mark at i.
func inner(s string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	return wordRune(before) && wordRune(after)
}

// language returns en, de, fr, es or zh by the small words of a text, empty when it cannot be told.
func language(words []word) string {
	count := map[string]int{}
	for i, w := range words {
		if i > 3000 {
			break
		}
		if r, _ := utf8.DecodeRuneInString(w.raw); wide(r) {
			count["zh"]++
			continue
		}
		for lang, small := range smallWords {
			if small[w.low] {
				count[lang] += 2
			}
		}
	}
	best, second := "", 0
	for _, lang := range []string{"en", "de", "fr", "es", "zh"} {
		if n := count[lang]; n > count[best] {
			best, second = lang, count[best]
		} else {
			second = max(second, n)
		}
	}
	if count[best] < 4 || count[best] <= second {
		return ""
	}
	return best
}

var smallWords = map[string]map[string]bool{
	"en": set(`the of and is are was were with for on has have by that this it from which to an be as or at its not`),
	"de": set(`der die das und ist sind nicht von mit für auf ein eine einen einer im zu wird wurde wurden hat den dem des sich auch nach bei aus`),
	"fr": set(`le la les des est une dans pour sur avec du et par qui que aux ce cette sont pas`),
	"es": set(`el los las del una para con por que es en y se su como más fue son`),
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

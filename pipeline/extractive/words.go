package extractive

import (
	"strings"
	"unicode"
)

// word is one field of a sentence as a reader sees it, without the punctuation around it.
type word struct {
	raw   string // as written
	low   string // folded
	after string // punctuation that followed: "," or "):"
}

// words splits a sentence at white space. Fields of punctuation alone are words with an empty raw.
func words(s string) []word {
	fields := strings.Fields(s)
	out := make([]word, len(fields))
	for i, f := range fields {
		raw := strings.TrimLeftFunc(f, notWordRune)
		body := strings.TrimRightFunc(raw, notWordRune)
		out[i] = word{raw: body, low: strings.ToLower(body), after: raw[len(body):]}
		if body == "" {
			out[i].after = f
		}
	}
	return out
}

func notWordRune(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// wide reports a character of Chinese, Japanese or Korean, which are written without spaces or cut into bigrams.
func wide(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー' || r == '々'
}

// wideShare returns the share of wide characters among the letters of s, 0 to 1.
func wideShare(s string) float64 {
	all, w := 0, 0
	for _, r := range s {
		switch {
		case r < 0x80:
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				all++
			}
		case wide(r):
			all++
			w++
		case unicode.IsLetter(r):
			all++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(w) / float64(all)
}

func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lists {
		for _, w := range strings.Fields(l) {
			out[w] = true
		}
	}
	return out
}

// language is what the function words of a sentence give away; it decides only which checks apply.
type language int

const (
	unknown language = iota
	english
	german
	french
	spanish
)

// languageOf counts function words. Unknown when there are none, or for a language that is not listed.
func languageOf(ws []word) language {
	var n [5]int
	for _, w := range ws {
		for l, list := range functionWords {
			if list[w.low] {
				n[l]++
			}
		}
	}
	best := unknown
	for l := english; l <= spanish; l++ {
		if n[l] > n[best] {
			best = l
		}
	}
	return best
}

var functionWords = [5]map[string]bool{
	english: set(`the of and to in is are was were for with that this on by as it be from or an at not can will has have
		which when if you your a we our`),
	german: set(`der die das und ist sind nicht mit von für auf ein eine einer eines einem einen dem den des im zu auch als
		wird werden sich bei oder aus nach wenn durch über kann hat`),
	french: set(`le la les des et est sont une un du de dans pour par sur avec que qui ne pas au aux ce cette ces il elle
		plus ou se peut a`),
	spanish: set(`el la los las y es son una un del de en para por con que no se al como más su sus lo o está puede ha fue`),
}

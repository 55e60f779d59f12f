package pdflayout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"

	"nightdesk/pipeline/knowledge/extract/document"
)

// quality holds counts that distinguish text from garbled characters.
type quality struct {
	runes   int // characters without white space
	letters int
	unknown int // characters that the font does not map
	words   int // words with a letter
	latin   int // words in Latin letters
	single  int // Latin words of one letter
	long    int // Latin words longer than 30 letters that are not addresses
	common  int // occurrences of commonWords with at least two letters
	vowel   int // Latin words of at least three letters with a vowel
	threeUp int // Latin words of at least three letters
}

// commonWords are the most frequent words of English, German, French, Spanish, Italian, Portuguese and Dutch.
var commonWords = document.Set(`the of and to in is for that with as on be are by or this an it at from if not can you
	der die das und ist von mit den nicht ein eine zu im für auf des dem
	le la les et est de des du un une en que qui dans pour pas sur
	el los las y en que es por con una para se del
	il di che è per una della sono con non
	o a os do da em para com não uma
	het van een de dat niet voor zijn op te`)

func qualityOf(pages []pdf.Page) quality {
	var q quality
	for _, p := range pages {
		for _, w := range p.Words {
			q.word(w.Text)
		}
	}
	return q
}

func (q *quality) word(t string) {
	letters, latin, size, vowel := 0, 0, 0, false
	for _, r := range ligatures.Replace(t) {
		size++
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Co, r) || unicode.IsControl(r):
			q.unknown++
		case unicode.IsLetter(r):
			letters++
			if r < 0x250 {
				latin++
			}
			vowel = vowel || r > 0x7f || strings.ContainsRune("aeiouyAEIOUY", r)
		}
	}
	q.runes += size
	q.letters += letters
	if letters == 0 {
		return
	}
	q.words++
	if latin < letters {
		return
	}
	q.latin++
	if size == 1 {
		q.single++
	}
	if letters > 30 && !strings.ContainsAny(t, "/._@-") {
		q.long++
	}
	if letters >= 3 {
		q.threeUp++
		if vowel {
			q.vowel++
		}
	}
	if letters > 1 && commonWords[strings.ToLower(strings.Trim(t, ".,;:()"))] {
		q.common++
	}
}

// plausible reports whether the text is readable. Scripts other than Latin are judged only by unknown characters.
func (q quality) plausible() bool {
	if q.unknown*5 > q.runes {
		return false
	}
	if q.latin < 50 || q.latin*2 < q.words {
		return true
	}
	switch {
	case q.common*100 >= q.latin*8:
		return true
	case q.single*100 > q.latin*80, q.long*100 > q.latin*10: // spaced-out letters or joined words
		return false
	}
	// Few common words: a parts list, another language, or letters mapped to other letters.
	return q.vowel*100 >= q.threeUp*75 && q.common*100 >= q.latin || q.vowel*100 >= q.threeUp*88
}

func (q quality) String() string {
	return fmt.Sprintf("of %d characters, %d are unknown; of %d words, %d are common", q.runes, q.unknown,
		q.words, q.common)
}

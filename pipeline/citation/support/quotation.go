package support

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// minQuote is the minimum number of words of a quotation. Shorter text in quotation marks is a name. In scripts without
// spaces, two characters count as a word.
const minQuote = 3

// quotationOf looks for the whole sentence and for its quoted passages.
func quotationOf(sentence string, docs []*document) Quotation {
	if wordsOf(sentence) >= minQuote {
		for _, d := range docs {
			for start, end := range d.folded().All(sentence) {
				if standsAlone(d.Text, start, end) {
					return Quotation{Result: Verbatim, Spans: []Span{{d.ID, start, end}}}
				}
			}
		}
	}
	q := Quotation{}
	for _, quote := range quotesOf(sentence) {
		if !sameScript(quote, docs) { // the quotation is translated
			continue
		}
		if span, ok := findQuote(quote, docs); ok {
			q.Result = Found
			if span.End > 0 {
				q.Spans = append(q.Spans, span)
			}
			continue
		}
		return Quotation{Result: Absent, Missing: quote}
	}
	return q
}

// standsAlone reports whether s[start:end] consists of whole sentences. A part of a sentence may lack the words that
// negate or limit it.
func standsAlone(s string, start, end int) bool {
	before := strings.TrimRight(s[:start], " \t\"'“”‘’«»„「『(*_#>|-•")
	last, _ := utf8.DecodeLastRuneInString(before)
	behind := strings.TrimLeft(s[end:], " \t\"'“”‘’«»」』)*_|")
	own, _ := utf8.DecodeLastRuneInString(s[start:end])
	next, _ := utf8.DecodeRuneInString(behind)
	const stops = ".!?:;…。！？：；\n"
	starts := before == "" || strings.ContainsRune(stops, last)
	ends := behind == "" || strings.ContainsRune(stops, next) || strings.ContainsRune(stops, own)
	return starts && ends
}

// findQuote returns the position of a quotation: Start and End are 0 if only the metadata of a source has it.
func findQuote(quote string, docs []*document) (Span, bool) {
	for _, d := range docs {
		if start, end, ok := d.folded().Find(quote); ok {
			return Span{d.ID, start, end}, true
		}
	}
	for _, d := range docs {
		if _, _, ok := text.Fold(d.About).Find(quote); ok {
			return Span{Source: d.ID}, true
		}
	}
	return Span{}, false
}

// sameScript reports whether a source uses the script of the quotation, so that the quotation need not be a
// translation.
func sameScript(quote string, docs []*document) bool {
	for _, d := range docs {
		if strings.ContainsFunc(quote, text.Wide) == strings.ContainsFunc(d.Text, text.Wide) {
			return true
		}
	}
	return false
}

// closers maps opening quotation marks to the marks that may close them.
var closers = map[rune]string{'"': `"`, '“': `”"`, '„': `“”"`, '«': "»", '»': "«", '「': "」", '『': "』", '＂': "＂"}

// quotesOf returns the quotations of a sentence, split at omissions and insertions.
func quotesOf(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		end := -1
		if close := closers[r]; close != "" {
			end = strings.IndexAny(s[i:], close)
		}
		if end < 0 {
			continue
		}
		out = append(out, partsOf(s[i:i+end])...)
		_, size = utf8.DecodeRuneInString(s[i+end:])
		i += end + size
	}
	return out
}

// partsOf splits a quotation at "..." and "[...]". It returns nil if the quotation is too short.
func partsOf(quote string) []string {
	if wordsOf(quote) < minQuote {
		return nil
	}
	for open := strings.IndexByte(quote, '['); open >= 0; open = strings.IndexByte(quote, '[') {
		end := strings.IndexByte(quote[open:], ']')
		if end < 0 {
			break
		}
		quote = quote[:open] + "…" + quote[open+end+1:]
	}
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(quote, "...", "…"), "…") {
		part = strings.TrimFunc(part, func(r rune) bool {
			return !text.LetterOrDigit(r) && !unicode.Is(unicode.Sc, r) && r != '%'
		})
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// wordsOf counts words; two characters of a script without spaces count as one.
func wordsOf(s string) int {
	wide := 0
	for _, r := range s {
		if text.Wide(r) {
			wide++
		}
	}
	return max(len(strings.Fields(s)), wide/2)
}

package support

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// statement is a sentence with what can be checked of it.
type statement struct {
	text       string
	folded     string
	words      []word
	terms      []weighted // distinct content words that are no numbers
	weight     float64    // of all terms
	anchors    map[string]bool
	quantities []quantity.Quantity
	quotes     []string // folded, each to stand verbatim
	names      []name
	negations  []negation
	language   string
	wide       bool // written in a script without spaces
	per        bool // it speaks of each year, hour, ...
}

type weighted struct {
	text   string
	weight float64
}

// maxFacts bounds the quantities, and the names, of a sentence that are looked for: no sentence has more.
const maxFacts = 60

// maxSentence bounds what is checked of a sentence, in bytes: what is longer is no sentence.
const maxSentence = 4000

// newStatement reads a sentence. likely: the language that it is in if it cannot be told, "" for none.
func newStatement(sentence string, st stems, likely string) *statement {
	sentence = plain(sentence)
	if len(sentence) > maxSentence {
		cut := maxSentence
		for cut > 0 && !utf8.RuneStart(sentence[cut]) {
			cut--
		}
		sentence = sentence[:cut]
	}
	s := &statement{text: sentence, folded: strings.TrimSpace(foldText(sentence).text), words: st.words(sentence)}
	if s.language = language(s.words); s.language == "" {
		s.language = likely
	}
	s.quantities = parse(sentence, s.language)
	s.quantities = s.quantities[:min(len(s.quantities), maxFacts)]
	dropSmall(s.words, s.language)
	index := map[string]bool{}
	wides := 0
	for _, w := range s.words {
		if r, _ := utf8.DecodeRuneInString(w.raw); wide(r) {
			wides++
		}
		s.per = s.per || perWords[w.low]
		if w.number() || s.inQuantity(w) || len(w.terms) == 0 {
			continue
		}
		term := w.term()
		if !index[term] {
			index[term] = true
			weight := extractive.Weight(term)
			s.terms = append(s.terms, weighted{term, weight})
			s.weight += weight
		}
	}
	s.wide = 2*wides > len(s.words)
	if s.wide {
		s.language = "zh"
	}
	s.anchors = anchorsIn(s.text, s.words, 0, len(s.text), nil)
	addOrder(s.anchors, s.words)
	s.quotes = quotesOf(sentence)
	s.names = s.findNames()
	s.names = s.names[:min(len(s.names), maxFacts)]
	s.negations = negations(s.text, s.words)
	return s
}

var perWords = set(`each every per annually annual yearly daily monthly weekly hourly pro jährlich täglich`)

// parse finds the quantities of a text. "Over 24 weeks" says how long, and not that it was longer; two hours and 22
// minutes are one time.
func parse(s, language string) []quantity.Quantity {
	found := quantity.Parse(s)
	out := found[:0]
	for _, q := range found {
		if q.Bound == quantity.AtLeast && (q.Unit == "s" || q.Unit == "month") && strings.HasSuffix(strings.ToLower(strings.TrimRight(s[max(0, q.Start-6):q.Start], " ")), "over") {
			q.Bound = quantity.Exact
		}
		if n := len(out); n > 0 && q.Kind == quantity.Measure && q.Unit == "s" && out[n-1].Unit == "s" && out[n-1].Low > q.Low && out[n-1].Low == out[n-1].High {
			if between := s[out[n-1].End:q.Start]; between == " and " || between == " " || between == " und " { // two hours and 22 minutes
				out[n-1].Low, out[n-1].High, out[n-1].Round, out[n-1].End = out[n-1].Low+q.Low, out[n-1].High+q.High, q.Round, q.End
				continue
			}
		}
		if q.Unit == "kg" && magnitudeOf(s[q.Start:q.End]) != "" { // nobody weighs millions of pounds
			q = inSterling(q, s[q.Start:q.End])
		}
		if q.Kind == quantity.Number && strings.HasPrefix(s[q.End:], "号") { // 2号线
			q.Kind = quantity.Label
		}
		if isYear(s, q) {
			q.Kind, q.When = quantity.Date, quantity.When{Year: int(q.Low)}
		}
		out = append(out, q)
	}
	fillIn(s, out, language == "de")
	return out
}

// inQuantity reports a word that is part of a quantity: a unit, a month.
func (s *statement) inQuantity(w word) bool {
	for _, q := range s.quantities {
		if w.start < q.End && w.end > q.Start {
			return true
		}
	}
	return false
}

// share is the weight of these terms, and of those that the source's own title and headings have, in that of all.
func (s *statement) share(covered map[int]bool, t *text) float64 {
	if s.weight == 0 {
		return 0
	}
	sum := 0.0
	for i, term := range s.terms {
		if covered[i] {
			sum += term.weight
		} else if len(covered) > 0 && t.aboutTerms[term.text] {
			sum += term.weight * aboutShare
		}
	}
	return sum / s.weight
}

// weightOf is the weight of these terms in that of all.
func (s *statement) weightOf(covered map[int]bool) float64 {
	sum := 0.0
	for i := range s.terms {
		if covered[i] {
			sum += s.terms[i].weight
		}
	}
	return sum / max(1e-9, s.weight)
}

// aboutShare is what a word counts that only the title or a heading of the source has.
const aboutShare = 0.7

// minQuote is the number of words from which quotation marks quote and do not just name.
const minQuote = 3

var quoteMarks = map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '»': '«', '「': '」', '『': '』', '＂': '＂'}

// quotesOf returns the folded quotations of a sentence, cut where words are left out or put in.
func quotesOf(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		closing := quoteMarks[r]
		i += size
		if closing == 0 {
			continue
		}
		end := strings.IndexRune(s[i:], closing)
		if r == '„' {
			end = strings.IndexAny(s[i:], "“”\"")
		}
		if r == '“' && end < 0 {
			end = strings.IndexByte(s[i:], '"')
		}
		if end < 0 {
			break
		}
		out = append(out, quoteParts(s[i:i+end])...)
		i += end
		_, size = utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return out
}

func quoteParts(quote string) []string {
	whole := foldText(quote).text
	for { // [the], [...]
		open := strings.IndexByte(whole, '[')
		if open < 0 {
			break
		}
		end := strings.IndexByte(whole[open:], ']')
		if end < 0 {
			break
		}
		whole = whole[:open] + "..." + whole[open+end+1:]
	}
	if !isQuote(whole) {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(whole, "...") {
		if part = strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// isQuote reports a text that is long enough to be quoted word for word.
func isQuote(s string) bool {
	wides := 0
	for _, r := range s {
		if wide(r) {
			wides++
		}
	}
	return len(strings.Fields(s)) >= minQuote || wides >= 2*minQuote
}

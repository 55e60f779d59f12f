package text

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Form says what a unit is, from what says nothing alone to a row of a table.
type Form int

// The forms of units.
const (
	Label     Form = iota // a heading, an entry of a menu, a question
	Entry                 // a short item of a list: it says something beside the others
	Statement             // a sentence, an item of some words, a line "name: value"
	Row                   // a row of a table, a record of JSON
)

// Unit is what a text says in one place: a sentence, an item, a row of a table, a record of JSON.
type Unit struct {
	Start, End int    // bytes of the text
	Mark       uint64 // equal for equal words, whatever their white space, case, punctuation and emphasis
	Form       Form
}

// The least words of what states something. A heading rarely has more than seven; shorter items are labels in menus.
const (
	sentenceWords = 3
	itemWords     = 4
	lineWords     = 8
	entryWords    = 2
)

// jsonRecord is an object of JSON without others in it, with a name and a value at least.
var jsonRecord = regexp.MustCompile(`\{\s*"[^"{}]+"\s*:[^{}]+\}`)

// Units returns the units of s in order; those of code and other preformatted text are its lines. Never fails.
func Units(s string) []Unit {
	var units []Unit
	add := func(start, end int, form Form) { units = append(units, Unit{start, end, mark(s[start:end]), form}) }
	records := jsonRecord.FindAllStringIndex(s, -1)
	for _, r := range records {
		add(r[0], r[1], Row)
	}
	within := func(start, end int) bool {
		i, found := slices.BinarySearchFunc(records, start, func(r []int, at int) int { return r[0] - at })
		return found || i < len(records) && records[i][0] < end || i > 0 && start < records[i-1][1]
	}
	for _, p := range paragraphs(s) {
		before := strings.TrimSpace(s[strings.LastIndexByte(s[:p.start], '\n')+1 : p.start])
		for _, sp := range cut(s[p.start:p.end]) {
			if start, end := p.start+sp.start, p.start+sp.end; !within(start, end) {
				add(start, end, formOf(s[start:end], before))
			}
		}
	}
	for at, line := range lines(s) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "|") && strings.ContainsFunc(bare, letterOrDigit) {
			start := at + strings.IndexByte(line, '|')
			add(start, start+len(bare), Row)
		}
	}
	for _, sp := range fencedLines(s) {
		if start, end := sp.start, sp.end; !within(start, end) {
			add(start, end, formOf(s[start:end], "-"))
		}
	}
	slices.SortStableFunc(units, func(a, b Unit) int { return a.Start - b.Start })
	return units
}

// fencedLines returns the lines between fences. One that is indented as far as the value of a line "name: value" above
// it goes on with that.
func fencedLines(s string) (out []span) {
	fence, column := "", 0 // column: where the value of the last name begins; 0: there is none
	for at, line := range lines(s) {
		bare := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		start := at + indent
		switch {
		case fence == "":
			if opensFence(bare) {
				fence, column = bare[:3], 0
			}
		case closesFence(bare, fence):
			fence = ""
		case !strings.ContainsFunc(bare, letterOrDigit):
			column = 0
		case column > 0 && indent >= column:
			out[len(out)-1].end = start + len(bare)
		default:
			out = append(out, span{start, start + len(bare)})
			if column = 0; fieldLine.MatchString(line) {
				column = len(fieldLine.FindString(line))
			}
		}
	}
	return out
}

// fieldLine finds the name of a line "name: value", with the space before its value.
var fieldLine = regexp.MustCompile(`^[^:]*\S:[ \t]+`)

// formOf returns the form of a sentence. before: what stands before its paragraph on the line, a marker of an item or
// heading.
func formOf(s, before string) Form {
	words := countWords(s)
	bare := strings.TrimRight(s, "\"'”’»)]*_` ")
	last, _ := utf8.DecodeLastRuneInString(bare)
	name, value, named := strings.Cut(bare, ":")
	switch {
	case strings.HasPrefix(before, "#"), last == '?' || last == '？':
		return Label
	case strings.ContainsRune(".!。！", last) && words >= sentenceWords, words >= lineWords:
		return Statement
	case named && countWords(name) > 0 && countWords(value) > 0:
		return Statement
	case before != "" && words >= itemWords:
		return Statement
	case before != "" && words >= entryWords:
		return Entry
	}
	return Label
}

// countWords counts words; two characters of a script without spaces count as one.
func countWords(s string) int {
	words, wide := 0, 0
	scan(s, func(t token) {
		if t.wide {
			wide += utf8.RuneCountInString(t.text)
		} else {
			words++
		}
	})
	return words + wide/2
}

// Over returns the units that the bytes from start to end touch.
func Over(units []Unit, start, end int) []Unit {
	var over []Unit
	for _, u := range units {
		if u.Start < end && start < u.End {
			over = append(over, u)
		}
	}
	return over
}

// Words returns the words and figures of s as units are compared: folded, without punctuation and emphasis, with the
// signs that belong to figures. A character of a script without spaces is a word.
func Words(s string) []string {
	var words []string
	begin := -1
	s = strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, " ")))
	end := func(i int) {
		if begin >= 0 {
			words = append(words, s[begin:i])
			begin = -1
		}
	}
	for i, r := range s {
		switch {
		case Wide(r):
			end(i)
			words = append(words, string(r))
		case letterOrDigit(r) || unicode.IsMark(r) || strings.ContainsRune("%€$£¥°+#&@/=<>", r), unicode.Is(unicode.Sc, r), joins(s, i, r):
			if begin < 0 {
				begin = i
			}
		case strings.ContainsRune("'’", r): // it's, its; 10'000
		default:
			end(i)
		}
	}
	end(len(s))
	for i, w := range words {
		words[i] = plainWord.Replace(w)
	}
	return words
}

var plainWord = strings.NewReplacer("'", "", "’", "", "–", "-", "−", "-")

// joins reports a point, comma or colon between digits, and a minus before one.
func joins(s string, i int, r rune) bool {
	next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	switch r {
	case '.', ',', ':':
		return unicode.IsDigit(last) && unicode.IsDigit(next)
	case '-', '–', '−':
		return unicode.IsDigit(next) && !unicode.IsLetter(last)
	}
	return false
}

// mark returns 64 bits that stand for the words of a unit.
func mark(s string) uint64 {
	h := fnv.New64a()
	for _, w := range Words(s) {
		_, _ = h.Write([]byte(w)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

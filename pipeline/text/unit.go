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

// Form is the kind of a unit, from a label without a statement to a table row.
type Form int

// The forms of units.
const (
	Label     Form = iota // a heading, a menu entry, a question
	Entry                 // a short list item, which has meaning beside the others
	Statement             // a sentence, a longer item, a line "name: value"
	Row                   // a table row, a JSON record
)

// Unit is the smallest part of a text that is compared: a sentence, an item, a table row, a JSON record.
type Unit struct {
	Start, End int    // bytes of the text
	Mark       uint64 // equal for equal words, regardless of white space, case, punctuation and emphasis
	Form       Form
}

// Minimum numbers of words. A heading rarely has more than seven; shorter items are labels in menus.
const (
	sentenceWords = 3
	itemWords     = 4
	lineWords     = 8
	entryWords    = 2
)

// jsonRecord matches a JSON object with at least one name and value, and without nested objects.
var jsonRecord = regexp.MustCompile(`\{\s*"[^"{}]+"\s*:[^{}]+\}`)

// Units returns the units of s in order. In code and other preformatted text, each line is a unit. Never fails.
func Units(s string) []Unit {
	var units []Unit
	add := func(start, end int, form Form) { units = append(units, Unit{start, end, mark(s[start:end]), form}) }
	records := jsonRecord.FindAllStringIndex(s, -1)
	for _, r := range records {
		add(r[0], r[1], Row)
	}
	within := func(start, end int) bool {
		i, found := slices.BinarySearchFunc(records, start, func(r []int, at int) int { return r[0] - at })
		return found || slices.ContainsFunc(records[max(0, i-1):min(len(records), i+1)], func(r []int) bool {
			return r[0] < end && start < r[1]
		})
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
		if strings.HasPrefix(bare, "|") && strings.ContainsFunc(bare, LetterOrDigit) {
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

// fencedLines returns the lines between fences. A line indented at least to the value of the "name: value" line above
// it continues that line.
func fencedLines(s string) (out []span) {
	fence, column := "", 0 // column: start of the current value; 0 if there is none
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
		case !strings.ContainsFunc(bare, LetterOrDigit):
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

// fieldLine matches the name of a line "name: value", and the space before its value.
var fieldLine = regexp.MustCompile(`^[^:]*\S:[ \t]+`)

// formOf returns the form of a sentence. before: the text before its paragraph on the line, such as a list or heading
// marker.
func formOf(s, before string) Form {
	words := CountWords(s)
	bare := strings.TrimRight(s, "\"'”’»)]*_` ")
	last, _ := utf8.DecodeLastRuneInString(bare)
	name, value, named := strings.Cut(bare, ":")
	switch {
	case strings.HasPrefix(before, "#"), last == '?' || last == '？':
		return Label
	case strings.ContainsRune(".!。！", last) && words >= sentenceWords, words >= lineWords:
		return Statement
	case named && CountWords(name) > 0 && CountWords(value) > 0:
		return Statement
	case before != "" && words >= itemWords:
		return Statement
	case before != "" && words >= entryWords:
		return Entry
	}
	return Label
}

// CountWords returns the number of words in s. Two characters of a script without spaces count as one word.
func CountWords(s string) int {
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

// Over returns the units that overlap the bytes from start to end.
func Over(units []Unit, start, end int) []Unit {
	var over []Unit
	for _, u := range units {
		if u.Start < end && start < u.End {
			over = append(over, u)
		}
	}
	return over
}

// Words returns the words and figures of s for the comparison of units: folded, without punctuation and emphasis, with
// the signs of figures. Each character of a script without spaces is a word.
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
		case LetterOrDigit(r), unicode.IsMark(r), strings.ContainsRune("%€$£¥°+#&@/=<>", r), unicode.Is(unicode.Sc, r),
			joins(s, i, r):
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

// joins reports whether r at i is a period, comma or colon between digits, or a minus before a digit.
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

// mark returns a 64-bit hash of the words of a unit.
func mark(s string) uint64 {
	h := fnv.New64a()
	for _, w := range Words(s) {
		_, _ = h.Write([]byte(w)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

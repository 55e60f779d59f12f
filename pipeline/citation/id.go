package citation

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// ID is a parsed citation id.
type ID struct {
	Block int // number of the block; 0 for planning
	Seq   int // from 1
}

// String returns the canonical form: PLAN-01, CIT-3-02.
func (id ID) String() string {
	if id.Block == 0 {
		return topicqueue.PlanCitationID(id.Seq)
	}
	return topicqueue.BlockCitationID(id.Block, id.Seq)
}

const (
	dash   = `[-_‐‑‒–—−]`
	digits = `[0-9０-９٠-٩۰-۹०-९]`
)

var idForm = regexp.MustCompile(`^(?i:PLAN|CIT` + dash + `(` + digits + `{1,6}))` + dash + `(` + digits + `{1,6})$`)

// ParseID reads a citation id. Lower case, other dashes and missing or extra zeros are accepted, as models write them;
// text around the id is not. It returns false for everything else.
func ParseID(s string) (ID, bool) {
	m := idForm.FindStringSubmatch(s)
	if m == nil {
		return ID{}, false
	}
	id := ID{Block: Number(m[1]), Seq: Number(m[2])}
	return id, id.Seq > 0 && (m[1] == "" || id.Block > 0)
}

// Canonical returns the canonical form of an id, and "" for text that is none.
func Canonical(s string) string {
	if id, ok := ParseID(s); ok {
		return id.String()
	}
	return ""
}

// Compare orders citation ids for people: planning first, then by block, then by number in the block. Text that is no
// id comes last, in byte order.
func Compare(a, b string) int {
	ia, okA := ParseID(a)
	ib, okB := ParseID(b)
	switch {
	case okA && okB:
		return cmp.Or(cmp.Compare(ia.Block, ib.Block), cmp.Compare(ia.Seq, ib.Seq))
	case okA:
		return -1
	case okB:
		return 1
	}
	return strings.Compare(a, b)
}

// Number returns the value of digits of any script, of which there are few; other characters count nothing.
func Number(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			value := 0
			for value < 9 && unicode.IsDigit(r-rune(value)-1) { // the digits of a script follow its zero
				value++
			}
			n = n*10 + value
		}
	}
	return n
}

// isWord reports whether r continues an identifier. Han, kana and hangul do not: such text has no spaces, and a marker
// stands directly after the sentence there.
func isWord(r rune) bool {
	return r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) && !text.CJK(r)
}

// endsInWord reports whether a text ends within a word.
func endsInWord(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isWord(last)
}

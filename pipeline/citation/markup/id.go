package markup

import (
	"cmp"
	"regexp"
	"slices"
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

	raw string // of what only looks like an id: its text
}

// String returns the canonical form: PLAN-01, CIT-3-02.
func (id ID) String() string {
	if id.raw != "" {
		return id.raw
	}
	if id.Block == 0 {
		return topicqueue.PlanCitationID(id.Seq)
	}
	return topicqueue.BlockCitationID(id.Block, id.Seq)
}

// ParseID reads a citation id. Lower case, other dashes and missing or extra zeros are accepted, as models write them;
// text around the id is not. It returns false for everything else.
func ParseID(s string) (ID, bool) {
	id, n := scanID(s)
	return id, n > 0 && n == len(s)
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

const (
	dash  = `[-_‐‑‒–—−]`
	digit = `(?:[0-9]{1,6}|[０-９٠-٩۰-۹०-९]{1,6})`
)

var (
	idForm        = regexp.MustCompile(`^(?i:PLAN|CIT` + dash + `(` + digit + `))` + dash + `(` + digit + `)`)
	lookalikeForm = regexp.MustCompile(`^(?:CIT` + dash + `|PLAN` + dash + `[0-9])`)
)

// scanID reads an id at the start of s and returns it with its length in bytes; length 0 means that there is none.
// An id ends where no letter or digit follows.
func scanID(s string) (ID, int) {
	if !FoldPrefix(s, "CIT") && !FoldPrefix(s, "PLAN") {
		return ID{}, 0
	}
	m := idForm.FindStringSubmatch(s)
	if m == nil {
		return ID{}, 0
	}
	if next, _ := utf8.DecodeRuneInString(s[len(m[0]):]); next != utf8.RuneError && isWord(next) {
		return ID{}, 0
	}
	var id ID
	id.Block, _ = ScanNumber(m[1])
	id.Seq, _ = ScanNumber(m[2])
	if id.Seq == 0 || m[1] != "" && id.Block == 0 {
		return ID{}, 0
	}
	return id, len(m[0])
}

const maxLookalike = 16 // bytes behind the first dash of what only looks like an id

// scanLookalike reads text that is written like an id and is none: CIT-0-01, CIT-X-01. No run has such an id. It is for
// text in square brackets only, because words such as CIT-10 look like ids, too.
func scanLookalike(s string) (ID, int) {
	start := lookalikeForm.FindString(s)
	if start == "" {
		return ID{}, 0
	}
	from := len(strings.TrimRight(start, "0123456789"))
	end := strings.IndexFunc(s[from:], func(r rune) bool { return !isDash(r) && !isWord(r) })
	if end <= 0 || end > maxLookalike {
		return ID{}, 0
	}
	return ID{raw: s[:from+end]}, from + end
}

// zeros are those of ASCII, full-width, Arabic, Persian and Hindi digits; the others follow them.
var zeros = []rune{'0', '０', '٠', '۰', '०'}

// ScanNumber reads one to six digits.
func ScanNumber(s string) (n, length int) {
	digits := 0
	for _, r := range s {
		i := slices.IndexFunc(zeros, func(zero rune) bool { return r >= zero && r <= zero+9 })
		if i < 0 {
			break
		}
		if digits++; digits > 6 {
			return 0, 0
		}
		n, length = n*10+int(r-zeros[i]), length+utf8.RuneLen(r)
	}
	return n, length
}

func FoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// LowerASCII is strings.ToLower for tags: it keeps the length of valid UTF-8, so that a place found in it is one of s.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func isDash(r rune) bool { return strings.ContainsRune("-_‐‑‒–—−", r) }

// isWord reports whether r continues an identifier. Han, kana and hangul do not: such text has no spaces, and a marker
// stands directly after the sentence there.
func isWord(r rune) bool {
	if r == '_' || unicode.IsDigit(r) {
		return true
	}
	return unicode.IsLetter(r) && !text.CJK(r)
}

func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func AlnumASCII(c byte) bool { return IsDigit(c) || isLetter(c) }

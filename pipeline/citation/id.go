package citation

import (
	"cmp"
	"slices"
	"strconv"
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

// Anchor returns the fragment of the id's entry in the references, without #: ref-cit-3-02.
func (id ID) Anchor() string { return "ref-" + strings.ToLower(id.String()) }

// ParseID reads a citation id. Lower case, other dashes and missing or extra zeros are accepted, as models write them;
// text around the id is not. It returns false for everything else.
func ParseID(s string) (ID, bool) {
	id, n := scanID(s)
	return id, n > 0 && n == len(s)
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

// scanID reads an id at the start of s and returns it with its length in bytes; length 0 means that there is none.
// An id ends where no letter or digit follows.
func scanID(s string) (ID, int) {
	i, planning := 4, true
	if !foldPrefix(s, "PLAN") {
		i, planning = 3, false
		if !foldPrefix(s, "CIT") {
			return ID{}, 0
		}
	}
	numbers := 2
	if planning {
		numbers = 1
	}
	var parts [2]int
	for k := range numbers {
		dash, size := utf8.DecodeRuneInString(s[i:])
		if !isDash(dash) {
			return ID{}, 0
		}
		i += size
		n, length := scanNumber(s[i:])
		if length == 0 {
			return ID{}, 0
		}
		parts[k], i = n, i+length
	}
	if next, _ := utf8.DecodeRuneInString(s[i:]); next != utf8.RuneError && isWord(next) {
		return ID{}, 0
	}
	id := ID{Block: parts[0], Seq: parts[1]}
	if planning {
		id = ID{Seq: parts[0]}
	} else if id.Block == 0 {
		return ID{}, 0
	}
	if id.Seq == 0 {
		return ID{}, 0
	}
	return id, i
}

const maxLookalike = 16 // bytes behind the first dash of what only looks like an id

// scanLookalike reads text that is written like an id and is none: CIT-0-01, CIT-X-01. No run has such an id. It is for
// text in square brackets only, because words such as CIT-10 look like ids, too.
func scanLookalike(s string) (ID, int) {
	prefix := "CIT"
	if !strings.HasPrefix(s, prefix) {
		prefix = "PLAN"
	}
	rest, ok := strings.CutPrefix(s, prefix)
	dash, size := utf8.DecodeRuneInString(rest)
	if !ok || !isDash(dash) {
		return ID{}, 0
	}
	end := strings.IndexFunc(rest[size:], func(r rune) bool { return !isDash(r) && !isWord(r) })
	if end <= 0 || end > maxLookalike || prefix == "PLAN" && !isDigit(rest[size]) {
		return ID{}, 0
	}
	n := len(prefix) + size + end
	return ID{raw: s[:n]}, n
}

// scanNumber reads one to six digits, ASCII or others.
func scanNumber(s string) (n, length int) {
	if s != "" && s[0] >= utf8.RuneSelf {
		return scanWide(s)
	}
	for length < len(s) && length < 7 && s[length] >= '0' && s[length] <= '9' {
		length++
	}
	if length == 0 || length > 6 {
		return 0, 0
	}
	n, _ = strconv.Atoi(s[:length])
	return n, length
}

// zeros are those of full-width, Arabic, Persian and Hindi digits; the others follow them.
var zeros = []rune{'０', '٠', '۰', '०'}

func scanWide(s string) (n, length int) {
	digits := 0
	for _, r := range s {
		i := slices.IndexFunc(zeros, func(zero rune) bool { return r >= zero && r <= zero+9 })
		if i < 0 {
			break
		}
		n, length, digits = n*10+int(r-zeros[i]), length+utf8.RuneLen(r), digits+1
		if digits > 6 {
			return 0, 0
		}
	}
	return n, length
}

func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// lowerASCII is strings.ToLower for tags: it keeps the length, so that a place found in it is one of s.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isDash(r rune) bool {
	switch r {
	case '-', '_', '‐', '‑', '‒', '–', '—', '−':
		return true
	}
	return false
}

// isWord reports whether r continues an identifier. Han, kana and hangul do not: such text has no spaces, and a marker
// stands directly after the sentence there.
func isWord(r rune) bool {
	if r == '_' || unicode.IsDigit(r) {
		return true
	}
	return unicode.IsLetter(r) && !text.CJK(r)
}

package address

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// How a URL was found.
const (
	Exact      = "exact"      // the same address
	Truncation = "truncation" // the beginning of the only address that goes on like that
	Prefix     = "prefix"     // the same after normalisation
	Child      = "child"      // a page below the only source whose path, of two or more segments, leads to it
	Query      = "query"      // the only address that has these parameters and more
)

// Index finds sources by URL. Sources are numbers of the caller.
type Index struct {
	all    []Address
	source []int            // by position in all
	exact  map[string]int   // by key: the first
	loose  map[string][]int // by looseKey
	host   map[string][]int
}

// NewIndex returns an index without addresses.
func NewIndex() *Index {
	return &Index{exact: map[string]int{}, loose: map[string][]int{}, host: map[string][]int{}}
}

// Add adds the address of a source; what is no address is left out.
func (s *Index) Add(raw string, source int) {
	a, ok := Parse(raw)
	if !ok {
		return
	}
	key := a.key()
	at, known := s.exact[key]
	if known {
		s.all[at].others = append(s.all[at].others, a.rest)
		return
	}
	at, a.normal = len(s.all), key
	s.all, s.source = append(s.all, a), append(s.source, source)
	s.exact[key] = at
	s.loose[a.looseKey()] = append(s.loose[a.looseKey()], at)
	s.host[a.Host] = append(s.host[a.Host], at)
}

// Match returns the source that a URL identifies, and the level of the match. An ambiguous URL identifies no source. An
// ellipsis in the URL matches omitted text.
func (s *Index) Match(raw string) (source int, level string, ok bool) {
	raw = strings.TrimSpace(raw)
	whole := withoutHalfEscape(raw)
	head, tail, cut := strings.Cut(strings.ReplaceAll(raw, "…", "..."), "...")
	if source, level, ok = s.match(raw, cut || whole != raw); ok {
		return source, level, true
	}
	if whole != raw {
		return s.match(whole, true)
	}
	if !cut {
		return 0, "", false
	}
	head, tail = strings.TrimRight(head, "."), strings.Trim(tail, ".")
	if strings.Trim(tail, "/") == "" {
		return s.match(head, true)
	}
	source, ok = s.between(head, tail)
	return source, Truncation, ok
}

// halfEscape is the beginning of an escape at the end of an address.
var halfEscape = regexp.MustCompile(`%[0-9A-Fa-f]?$`)

// withoutHalfEscape cuts what is left of an escaped character at the end of an address.
func withoutHalfEscape(raw string) string {
	cut := halfEscape.ReplaceAllString(raw, "")
	for range utf8.UTFMax {
		i := len(cut) - len("%E2")
		if i < 0 || cut[i] != '%' || utf8.ValidString(unescape(cut, "")) {
			break
		}
		cut = cut[:i]
	}
	return cut
}

// match returns the source that a URL identifies, by the first level with exactly one candidate. cut: the end of the
// URL is missing, so that it can be neither a page below a source nor have all parameters.
func (s *Index) match(raw string, cut bool) (source int, level string, ok bool) {
	a, valid := Parse(raw)
	if !valid {
		return 0, "", false
	}
	found := func(at int, level string) (int, string, bool) { return s.source[at], level, true }
	if at, known := s.exact[a.key()]; known {
		return found(at, Exact)
	}
	if at, only := s.one(s.loose[a.looseKey()], func(b Address) bool { return !contradict(a.query, b.query) }); only {
		return found(at, Exact)
	}
	if at, only := s.one(s.host[a.Host], func(b Address) bool { return b.goesOn(a.rest) }); only {
		return found(at, Truncation)
	}
	key, slash := a.key(), a.slash && len(a.query) == 0
	if at, only := s.one(s.host[a.Host], func(b Address) bool { return continues(b.normal, key, slash) }); only {
		return found(at, Prefix)
	}
	if cut {
		return 0, "", false
	}
	if at, only := s.one(s.host[a.Host], func(b Address) bool { return b.isAbove(a) }); only {
		return found(at, Child)
	}
	if at, only := s.one(s.host[a.Host], func(b Address) bool { return b.hasAll(a) }); only {
		return found(at, Query)
	}
	return 0, "", false
}

// isAbove reports whether b is a page below a, whose path has two or more segments.
func (a Address) isAbove(b Address) bool {
	return strings.Count(a.path, "/") > 1 && strings.HasPrefix(b.path, a.path+"/")
}

// hasAll reports whether a has the path of b, and all of its parameters with the same values.
func (a Address) hasAll(b Address) bool {
	for name, values := range b.query {
		if !slices.Equal(a.query[name], values) {
			return false
		}
	}
	return a.path == b.path && len(b.query) > 0
}

// maxCandidates bounds the addresses that are looked through for one.
const maxCandidates = 2000

// one returns the address that fits, if there is exactly one.
func (s *Index) one(candidates []int, fits func(Address) bool) (int, bool) {
	only := -1
	if len(candidates) > maxCandidates {
		return 0, false
	}
	for _, at := range candidates {
		if fits(s.all[at]) {
			if only >= 0 {
				return 0, false
			}
			only = at
		}
	}
	return only, only >= 0
}

// goesOn reports whether one of the spellings of an address begins with a text.
func (a Address) goesOn(text string) bool {
	isLonger := func(spelling string) bool { return continues(spelling, text, false) }
	return isLonger(a.rest) || slices.ContainsFunc(a.others, isLonger)
}

// continues reports whether text is the beginning of s, cut at an allowed position: within no number, and behind a
// whole segment if text ends with a slash.
func continues(s, text string, slash bool) bool {
	rest, ok := strings.CutPrefix(s, text)
	inWord := slash && rest != "" && strings.IndexByte("/?", rest[0]) < 0
	return ok && !inWord && !cutsNumber(s, len(text))
}

// cutsNumber reports whether i lies inside a number, because page 1 is not page 12. Digits of an escape do not count.
func cutsNumber(s string, i int) bool {
	if i == 0 || i >= len(s) || !isDigit(s[i-1]) || !isDigit(s[i]) {
		return false
	}
	return s[i-1] != '%' && (i < 2 || s[i-2] != '%')
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// between returns the only source whose address begins with head and ends with tail: a URL with an ellipsis in it.
func (s *Index) between(head, tail string) (int, bool) {
	a, ok := Parse(head)
	if !ok || len(tail) < 3 || a.path == "/" {
		return 0, false
	}
	at, ok := s.one(s.host[a.Host], func(b Address) bool {
		end := len(b.rest) - len(tail)
		if end < len(a.rest) || !strings.HasPrefix(b.rest, a.rest) || !strings.HasSuffix(b.rest, tail) {
			return false
		}
		return !cutsNumber(b.rest, len(a.rest)) && !cutsNumber(b.rest, end)
	})
	if !ok {
		return 0, false
	}
	return s.source[at], true
}

package citation

import (
	"slices"
	"sort"
	"strings"
)

// How a citation was found in the registry.
const (
	MatchExact      = "exact"      // the same address
	MatchTruncation = "truncation" // the beginning of the only address that goes on like that
	MatchPrefix     = "prefix"     // the same after normalisation
	MatchChild      = "child"      // a page below the only source whose path, of two or more segments, leads to it
	MatchQuery      = "query"      // the only address that has these parameters and more
	MatchKey        = "key"        // a document key, whatever the page
	MatchTitle      = "title"      // the title of one source
	MatchID         = "id"         // a citation id of the run
)

// addresses finds sources by URL. Sources are identified by their index.
type addresses struct {
	all    []address
	source []int            // by position in all
	exact  map[string]int   // by key: the first
	loose  map[string][]int // by looseKey
	host   map[string][]int
	path   map[string][]int // by host and path
	params map[string][]int // by host, path and one parameter
	raws   []spelling       // as written, sorted
	keys   []spelling       // normalised, sorted
}

// spelling is one spelling of the address at index at.
type spelling struct {
	text  string
	at    int
	other int // index in the list of the next spelling of another address
}

func (s *addresses) add(a address, source int) {
	key := a.key()
	at, known := s.exact[key]
	if !known {
		at = len(s.all)
		s.all, s.source = append(s.all, a), append(s.source, source)
		s.exact[key] = at
		s.loose[a.looseKey()] = append(s.loose[a.looseKey()], at)
		s.host[a.host] = append(s.host[a.host], at)
		s.path[a.host+a.path] = append(s.path[a.host+a.path], at)
		for k := range a.parameters() {
			s.params[k] = append(s.params[k], at)
		}
		s.keys = append(s.keys, spelling{text: key, at: at})
	}
	s.raws = append(s.raws, spelling{text: a.rest, at: at})
}

func (s *addresses) sort() {
	for _, list := range [][]spelling{s.raws, s.keys} {
		slices.SortFunc(list, func(a, b spelling) int { return strings.Compare(a.text, b.text) })
		for i, other := len(list)-1, len(list); i >= 0; i-- {
			if i+1 < len(list) && list[i].at != list[i+1].at {
				other = i + 1
			}
			list[i].other = other
		}
	}
}

// match returns the source that a URL identifies, by the first level with exactly one candidate. cut: the end of the
// URL is missing, so that it can be neither a page below a source nor have all parameters.
func (s *addresses) match(raw string, cut bool) (source int, level string, ok bool) {
	a, valid := parseAddress(raw)
	if !valid {
		return 0, "", false
	}
	found := func(at int, level string) (int, string, bool) { return s.source[at], level, true }
	if at, known := s.exact[a.key()]; known {
		return found(at, MatchExact)
	}
	if at, only := s.one(s.loose[a.looseKey()], func(b address) bool { return !contradict(a.query, b.query) }); only {
		return found(at, MatchExact)
	}
	bare := !strings.ContainsAny(a.rest, "/?")
	if at, only := s.longer(s.raws, a.rest, bare, false); only {
		return found(at, MatchTruncation)
	}
	if at, only := s.longer(s.keys, a.key(), false, a.slash && len(a.query) == 0); only {
		return found(at, MatchPrefix)
	}
	if cut {
		return 0, "", false
	}
	if parents := s.parents(a); len(parents) == 1 {
		return found(parents[0], MatchChild)
	}
	if at, only := s.one(s.having(a), func(b address) bool { return isSubset(a.query, b.query) }); only {
		return found(at, MatchQuery)
	}
	return 0, "", false
}

// maxSegments bounds the depth at which parents of an address are looked for.
const maxSegments = 100

// parents returns the addresses whose path, of two or more segments, is a parent of a's.
func (s *addresses) parents(a address) []int {
	var found []int
	for i, segments := 1, 1; i < len(a.path) && segments <= maxSegments && len(found) < 2; i++ {
		if a.path[i] != '/' {
			continue
		}
		if segments++; segments > 2 {
			found = append(found, s.path[a.host+a.path[:i]]...)
		}
	}
	return found
}

// having returns the addresses with a's path and the rarest of its parameters.
func (s *addresses) having(a address) []int {
	var rarest []int
	first := true
	for k := range a.parameters() {
		if with := s.params[k]; first || len(with) < len(rarest) {
			rarest, first = with, false
		}
	}
	return rarest
}

// maxCandidates bounds the addresses that are looked through for one.
const maxCandidates = 2000

// one returns the address that fits, if there is exactly one.
func (s *addresses) one(candidates []int, fits func(address) bool) (int, bool) {
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

// longer returns the address, if there is only one, of which text is the beginning, cut at an allowed position. bare:
// text is a host. slash: text ends with a slash, which is a boundary.
func (s *addresses) longer(list []spelling, text string, bare, slash bool) (int, bool) {
	only := -1
	at, _ := slices.BinarySearchFunc(list, text, func(sp spelling, text string) int {
		return strings.Compare(sp.text, text)
	})
	for at < len(list) && strings.HasPrefix(list[at].text, text) {
		sp := list[at]
		next := byte('/') // the same text: nothing is cut
		if len(sp.text) > len(text) {
			next = sp.text[len(text)]
		}
		inWord := bare && strings.IndexByte("/?:", next) < 0 || slash && strings.IndexByte("/?", next) < 0
		switch {
		case inWord || cutsNumber(sp.text, len(text)):
			alike := sp.text[:len(text)+1] // spellings that continue with the same character do not match either
			at += sort.Search(len(list)-at, func(i int) bool { return !strings.HasPrefix(list[at+i].text, alike) })
		case only >= 0 && sp.at != only:
			return 0, false
		default:
			only, at = sp.at, sp.other
		}
	}
	return only, only >= 0
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
func (s *addresses) between(head, tail string) (int, bool) {
	a, ok := parseAddress(head)
	if !ok || len(tail) < 3 || a.path == "/" {
		return 0, false
	}
	at, ok := s.one(s.host[a.host], func(b address) bool {
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

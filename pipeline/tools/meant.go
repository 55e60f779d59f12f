package tools

import (
	"slices"
	"strings"
	"unicode"
)

// Meant returns the only tool of the set that name can mean: the tool of that name, else the tool that shares the most
// words with it. A model may add words to a name (functions.web_search, web_search<|channel|>commentary), omit some
// (web), or reorder them (search_web). All words of the tool must therefore be in the name or all words of the name in
// the tool's. At least half of the name's words must belong to the tool. It returns false if no tool fits, or if two
// fit equally well.
func (s Set) Meant(name string) (tool string, ok bool) {
	if _, ok := s.Lookup(name); ok {
		return name, true
	}
	best := 0.0
	for _, t := range s {
		joined := strings.ReplaceAll(t.Name(), "_", "") // websearch, WebSearch
		is, said := nameWords(t.Name()), nameWords(strings.ReplaceAll(strings.ToLower(name), joined, t.Name()))
		common := 0
		for _, word := range is {
			if slices.Contains(said, word) {
				common++
			}
		}
		if common < len(is) && common < len(said) || 2*common < len(said) {
			continue
		}
		switch like := 2 * float64(common) / float64(len(is)+len(said)); {
		case like > best:
			best, tool = like, t.Name()
		case like == best:
			tool = ""
		}
	}
	return tool, tool != ""
}

// nameWords returns the distinct words of a name.
func nameWords(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

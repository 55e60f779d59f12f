package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxUnspoken is the length in characters above which a run of Chinese or Japanese is a clause and no word.
const maxUnspoken = 8

// Unspoken returns the words of query that none of the texts speaks of, in their order and as they are written there,
// at most limit: the heaviest. Only names and special words count, no verbs and no words of every subject.
//
// Texts that speak of nothing in query are in another language, or off its subject altogether: the answer is nil then.
func Unspoken(query string, texts []string, limit int) []string {
	st := stemmer{}
	q := newQuery(query, st)
	asked := slices.Clone(q.terms)
	spoken := map[string]bool{}
	for _, text := range texts {
		q.expand(text, st)
		for term := range q.found(text, st) {
			spoken[term] = true
		}
	}
	if !slices.ContainsFunc(asked, func(term string) bool { return spoken[term] }) {
		return nil
	}
	type word struct {
		text   string
		at     int
		weight float64
	}
	var words []word
	scan(query, func(t token) {
		weight := 0.0
		for _, term := range st.terms(t) {
			if spoken[term.text] {
				return
			}
			weight = max(weight, background(t, term))
		}
		same := func(w word) bool { return strings.EqualFold(w.text, t.text) }
		if weight < weightWord || t.wide && utf8.RuneCountInString(t.text) > maxUnspoken || !t.wide && verbal(t.text) || slices.ContainsFunc(words, same) {
			return
		}
		words = append(words, word{t.text, len(words), weight})
	})
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	words = words[:min(len(words), max(0, limit))]
	slices.SortFunc(words, func(a, b word) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, w := range words {
		out = append(out, w.text)
	}
	return out
}

// verbal reports a word that is a verb, or says how, rather than the name of something.
func verbal(text string) bool {
	if auxiliary[text] || irregular[text] || verbs[text] || strings.HasSuffix(text, "ed") || strings.HasSuffix(text, "ly") {
		return true
	}
	_, third := thirdPerson(text)
	return third
}

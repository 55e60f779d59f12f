package planning

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/extractive"
)

// covered is the weight of the words that texts have together, 0 to 1. A word that is only a relative of the topic's
// counts less.
func (w weights) covered(texts ...string) float64 {
	best := map[string]float64{}
	for _, text := range texts {
		low := ""
		for term := range w.in(text) {
			if low == "" {
				low = strings.ToLower(text)
			}
			weight := w.of[term]
			if !strings.Contains(low, strings.TrimSuffix(w.form[term], "s")) && !w.spelled(low, term) {
				weight *= relative
			}
			best[term] = max(best[term], weight)
		}
	}
	return w.total(best)
}

// total adds up weights by term.
func (w weights) total(of map[string]float64) float64 {
	sum := 0.0
	for _, term := range w.order {
		sum += of[term]
	}
	return sum
}

// spelled reports that a text in lower case has another spelling of a term.
func (w weights) spelled(low, term string) bool {
	for joined, of := range w.joined {
		if of == term && strings.Contains(low, joined) {
			return true
		}
	}
	return false
}

// in returns the words of the topic that texts have.
func (w weights) in(texts ...string) map[string]bool {
	has := map[string]bool{}
	for _, text := range texts {
		for _, term := range extractive.Terms(text) {
			if of, ok := w.joined[term]; ok {
				term = of
			}
			if w.of[term] > 0 {
				has[term] = true
			}
		}
	}
	return has
}

func (w weights) sum(has map[string]bool) float64 {
	sum := 0.0
	for _, term := range w.order {
		if has[term] {
			sum += w.of[term]
		}
	}
	return sum
}

// phrased is added to a heading in which words stand side by side as they do in the topic, in full for two such pairs.
const phrased = 0.2

// spread is the part of a heading's worth that its other words can take: "Index types" is about index types,
// "Locking and index types" only half.
const spread = 0.5

// headed is covered for headings, where the very form of a word counts, its neighbours, and what else stands there. At
// most 1.
func (w weights) headed(headings ...string) float64 {
	best := map[string]float64{}
	pairs := map[[2]string]bool{}
	share := 0.0
	for _, heading := range headings {
		share = max(share, w.share(heading))
		for word := range strings.FieldsFuncSeq(heading, func(r rune) bool { return unicode.IsSpace(r) || r == '-' }) {
			for _, term := range extractive.Terms(word) {
				if of, ok := w.joined[term]; ok {
					term, word = of, w.form[of]
				}
				if w.of[term] > 0 {
					best[term] = max(best[term], w.of[term]*w.closeness(term, bare(word)))
				}
			}
		}
		for p := range neighbours(heading) {
			if w.pairs[p] {
				pairs[p] = true
			}
		}
	}
	sum := w.total(best)
	if n := min(2, len(w.pairs)); n > 0 {
		sum += phrased * min(1, float64(len(pairs))/float64(n))
	}
	return min(1, sum*(1-spread+spread*share))
}

// share is how many of a heading's words are the topic's. Words such as "guide" do not count, nor does what a module is
// for, behind its name and a dash.
func (w weights) share(heading string) float64 {
	name, _, _ := strings.Cut(heading, " — ")
	best := 0.0
	for _, text := range []string{heading, name} {
		own, all := 0.0, 0.0
		for word := range strings.FieldsSeq(extractive.Heading(text)) {
			ts := extractive.Terms(word)
			if len(ts) == 0 || introducing.MatchString(word) {
				continue
			}
			if _, asked := w.of[ts[0]]; asked {
				if w.covered(word) == 0 { // stands everywhere in this corpus
					continue
				}
				own++
			}
			all++
		}
		if all > 0 {
			best = max(best, own/all)
		}
	}
	return best
}

func (w weights) closeness(term, word string) float64 {
	form := w.form[term]
	switch {
	case word == form:
		return 1
	case strings.TrimSuffix(word, "s") == strings.TrimSuffix(form, "s"), strings.ContainsAny(word, "/._") && strings.Contains(word, form):
		return inflected
	}
	return relative
}

// shorten takes in the short forms that documents introduce for words of the topic and returns them: a text on "WAL" is
// about write-ahead logging. A short form stands for the weightiest of its words.
func (w weights) shorten(documents []*document) []string {
	var added []string
	for _, d := range documents {
		d.root.walk(func(n *node) {
			found := extractive.Acronyms(n.text[:min(len(n.text), maxRead)])
			for _, short := range slices.Sorted(maps.Keys(found)) {
				long := found[short]
				stands, asked := "", true
				for _, term := range extractive.Terms(long) {
					asked = asked && w.of[term] > 0
					if stands == "" || w.of[term] > w.of[stands] {
						stands = term
					}
				}
				for _, term := range extractive.Terms(short) {
					if _, known := w.joined[term]; asked && stands != "" && !known && w.of[term] == 0 {
						w.joined[term] = stands
						added = append(added, short)
					}
				}
			}
		})
	}
	slices.Sort(added)
	return added
}

// telling returns the words of a topic that tell something about it in this corpus, in their order.
func (w weights) telling(topic string) []string {
	most := 0.0
	for _, weight := range w.of {
		most = max(most, weight)
	}
	var out []string
	for word := range strings.FieldsSeq(topic) {
		if w.covered(word) >= tells*most {
			out = append(out, strings.Trim(word, `.,;:?!()"'`))
		}
	}
	return out
}

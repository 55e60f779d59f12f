package extractive

import (
	"cmp"
	"slices"
)

// Ranked is a sentence, or a span of up to three, chosen from one of several passages.
type Ranked struct {
	Passage int // index into the passages
	Sentence
	Score float64 // comparable within one call only
}

// Rank returns at most limit sentences of the passages that say most about query, complete ones only, no near
// repetitions, best first: in the order of choice, in which a sentence that repeats part of an earlier one comes later
// than its score. Terms are weighed by their rarity over all passages. query: words of topic and block title, natural
// language.
//
// A sentence that leans on the one before it ("This ...", "It ...") comes with it, as one span of at most three sentences
// of one paragraph, or not at all. Text == passages[Passage][Start:End], Complete. Passages that do not speak of query
// yield nothing: fewer sentences are better than noise.
func Rank(passages []string, query string, limit int) []Ranked {
	return rank(passages, query, limit, false)
}

// Gist is Rank for passages that are known to be about query, such as the section that bears its name: a sentence need
// not name it, what stands first counts more, and sentences that follow each other are preferred, so that they read
// as prose.
func Gist(passages []string, query string, limit int) []Ranked {
	return rank(passages, query, limit, true)
}

func rank(passages []string, query string, limit int, about bool) []Ranked {
	st := stemmer{}
	q := newQuery(query, st)
	if limit <= 0 || len(q.terms) == 0 {
		return nil
	}
	var units []unit
	for _, p := range passages {
		q.expand(p, st)
	}
	covered := make([]float64, len(passages))
	for i, p := range passages {
		if covered[i] = q.covered(q.found(p, st)); covered[i] > 0 || about {
			units = append(units, unitsOf(i, p, st)...)
		}
	}
	score(units, q, covered, about, st)
	return choose(units, limit, about)
}

// Limits of the choice.
const (
	minScore     = 0.2  // of a unit, absolute
	shareOfBest  = 0.4  // of the third best unit's score
	mmrPenalty   = 0.45 // taken off per unit of similarity to what is chosen already
	maxUnitWords = 110
	flow         = 1.25 // factor for a sentence of a paragraph of which one is chosen already
)

// choose takes the best units one after the other, each judged by its score less what it repeats.
// about: as in score. Source: maximal marginal relevance (Carbonell and Goldstein 1998).
func choose(units []unit, limit int, about bool) []Ranked {
	units = slices.DeleteFunc(units, func(u unit) bool { return u.score < minScore })
	if len(units) == 0 {
		return nil
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.score, a.score) })
	// The third best sets the measure: the best is often a definition far above what else is worth reading.
	floor := max(minScore, shareOfBest*units[min(2, len(units)-1)].score)
	// The best few hundred are enough for any limit in use and keep the choice from growing with the text's square.
	units = units[:min(len(units), 8*limit+40)]
	var out []Ranked
	repeats := make([]float64, len(units)) // similarity to the most similar chosen unit
	gone := make([]bool, len(units))
	joined := make([]bool, len(units))
	for len(out) < limit {
		pick, value := -1, 0.0
		for i, u := range units {
			if gone[i] {
				continue
			}
			if v := u.score * (1 - mmrPenalty*repeats[i]); v > value && v >= floor*0.8 {
				pick, value = i, v
			}
		}
		if pick < 0 {
			break
		}
		p := units[pick]
		gone[pick] = true
		out = append(out, Ranked{Passage: p.passage, Sentence: p.Sentence, Score: p.score})
		for i, u := range units {
			if gone[i] {
				continue
			}
			if u.overlaps(p) || u.statement.same(p.statement) {
				gone[i] = true
				continue
			}
			repeats[i] = max(repeats[i], dice(u.statement.terms, p.statement.terms))
			if about && !joined[i] && u.passage == p.passage && u.Paragraph == p.Paragraph {
				joined[i] = true
				units[i].score *= flow
			}
		}
	}
	return out
}

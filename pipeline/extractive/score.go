package extractive

import "math"

// Gates: what a unit and its passage must have in common with the query before anything else counts.
const (
	passageGate = 0.45 // of Relevance, for the passage: a long text on another subject meets a few words by chance
	sectionGate = 0.30 // for the section
	unitGate    = 0.55 // coverage by the unit itself that needs no passage
	ownWeight   = 0.6  // background weight of the terms that the unit shares with the query
)

// narrow is the factor for meeting nothing of a query of several words but one name: "Go" says which shelf the text
// stands on, not that the sentence is about channels.
const narrow = 0.6

// onlyName reports that all the terms met, without words that ask, are one plain name.
func onlyName(q query, met ...map[string]bool) bool {
	names := 0
	for _, has := range met {
		for t := range has {
			switch {
			case q.name[t]:
				names++
			case q.weight[t] >= weightCommon:
				return false
			}
		}
	}
	return names == 1
}

// unnamed is the relevance of a sentence that shares no word with the query, in a passage that is about it.
const unnamed = 0.4

// score fills in the score of each unit: relevance to the query first, then what makes a sentence worth quoting.
// covered: for each passage how much of the query it covers. about: the passages are about the query, so a sentence
// need not name it, and what stands first says most.
func score(units []unit, q query, covered []float64, about bool, st stemmer) {
	weight, present := rarity(units, q)
	coverSections(units, q)
	for i := range units {
		u := &units[i]
		has := map[string]bool{}
		own, sum := 0.0, 0.0
		for _, t := range u.terms {
			if w := weight[t.text]; w > 0 && !has[t.text] {
				has[t.text] = true
				own += q.weight[t.text]
				sum += w
			}
		}
		onSubject := covered[u.passage] >= passageGate || u.section.covered >= sectionGate || q.covered(has) >= unitGate
		if !about && (own < min(ownWeight, 0.9*q.enough) || !onSubject) {
			continue
		}
		inHeading := map[string]bool{}
		for _, t := range u.section.heading { // "Journal modes" says what "The default is DELETE." is about
			if w := weight[t.text]; w > 0 && !has[t.text] && !inHeading[t.text] {
				inHeading[t.text] = true
				sum += 0.4 * w
			}
		}
		relevance := min(1, sum/present)
		if q.broad && onlyName(q, has, inHeading) {
			relevance *= narrow
		}
		if about {
			relevance = unnamed + (1-unnamed)*relevance
			u.score = relevance * (1 + 0.5*u.proximity(q)) * u.quality(weight, st) / (1 + 0.06*float64(u.Paragraph))
			continue
		}
		if relevance == 0 {
			continue
		}
		u.score = relevance * (0.6 + 0.4*covered[u.passage]) * (1 + u.proximity(q)) * u.quality(weight, st)
	}
}

// coverSections fills in how much of the query each section covers.
func coverSections(units []unit, q query) {
	has := map[*section]map[string]bool{}
	for i := range units {
		u := &units[i]
		if has[u.section] == nil {
			has[u.section] = map[string]bool{}
			for _, t := range u.section.heading {
				has[u.section][t.text] = true
			}
		}
		for _, t := range u.terms {
			has[u.section][t.text] = true
		}
	}
	for s, h := range has {
		s.covered = q.covered(h)
	}
}

// rarity returns the weight of each query term that occurs in the units, by how few of them hold it, and the weight
// that one unit can reach at best.
func rarity(units []unit, q query) (weight map[string]float64, present float64) {
	df := map[string]int{}
	for _, u := range units {
		for _, t := range u.statement.terms {
			if q.weight[t] > 0 {
				df[t]++
			}
		}
	}
	weight = make(map[string]float64, len(df))
	n := float64(len(units))
	for _, t := range q.terms {
		if df[t] == 0 { // the best there is may still be little
			present += 0.25 * q.weight[t]
			continue
		}
		idf := math.Log(1+n/float64(df[t])) / math.Log(1+n)
		w := q.weight[t] * (0.35 + 0.65*idf)
		weight[t] = w
		present += w
	}
	if limit := q.enough * 0.6; present > limit { // no sentence covers a long query; half of it is as good as all
		present = max(limit, present*0.5)
	}
	return weight, max(present, 0.5)
}

// proximity rewards terms that stand together in the query and in the unit, up to 0.4.
func (u *unit) proximity(q query) float64 {
	near := 0.0
	var last string
	seen := map[[2]string]bool{}
	for _, t := range u.terms {
		if t.part {
			continue
		}
		if pair := [2]string{last, t.text}; q.pairs[pair] && !seen[pair] {
			seen[pair] = true
			near += min(q.weight[last], q.weight[t.text])
		}
		last = t.text
	}
	return min(0.4, 0.2*near)
}

// quality judges a unit without regard to relevance: about 1, more for definitions and facts, less for questions,
// instructions, examples and sentences that are too short or too long.
func (u *unit) quality(weight map[string]float64, st stemmer) float64 {
	v := 1.0
	switch {
	case u.lead:
		v += 0.15
	case u.first:
		v += 0.08
	}
	if u.item {
		v -= 0.1
	}
	if u.ledIn {
		v -= 0.2
	}
	sum := 0.0
	for i := range u.parts {
		sum += u.parts[i].worth(weight, st)
	}
	v += sum / float64(len(u.parts))
	v -= 0.08 * float64(len(u.parts)-1)
	return max(0.05, v)
}

package planning

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/knowledge"
)

const (
	maxWeighed   = 12   // words of the topic whose weight is looked up
	framingPart  = 0.4  // weight, before squaring, of a word that frames a question
	perWord      = 12   // sections looked at for each word of the topic
	tells        = 0.25 // of the weightiest word, from which a word tells something
	minPaired    = 0.01 // weight below which a word makes no phrase with its neighbour
	absentCommon = 0.3  // rarity of a word of every subject that the corpus does not have
)

// How much a word counts that is an inflection or a relative of the topic's: "collections" is not quite "collection",
// and "decorate" is not what "decorators" are.
const (
	inflected = 0.9
	relative  = 0.6
)

// weights says how much each content word of a topic tells about it.
type weights struct {
	of     map[string]float64 // by extractive.Terms, in sum 1
	order  []string           // its keys: sums are always made in the same order, so that the same run plans the same
	form   map[string]string  // as the topic has it, in lower case
	joined map[string]string  // the term for which another spelling stands
	pairs  map[[2]string]bool // terms that stand side by side in the topic
}

// weigh looks up how rare each word of the topic is in the knowledge base: in a manual of PostgreSQL, "replication"
// tells much and "PostgreSQL" next to nothing. A word that the corpus does not have at all weighs most: nothing there
// is about it. The sections that the words find one by one are returned, too.
func (d *draft) weigh(ctx context.Context, topic string) (weights, []knowledge.SectionHit, error) {
	w := weights{of: map[string]float64{}, form: map[string]string{}, joined: map[string]string{}, pairs: neighbours(topic)}
	var found []knowledge.SectionHit
	total := 0.0
	words := strings.Fields(topic)
	for i, word := range words {
		for _, term := range extractive.Terms(word) {
			if _, known := w.of[term]; known || len(w.of) == maxWeighed {
				continue
			}
			w.form[term] = bare(word)
			general := max(framingPart, extractive.Weight(term))
			if framing[term] {
				general = framingPart
			}
			w.of[term] = general * general * general // rare or not, "offer" says little
			if d.Sections != nil {
				spelled := term
				if len(extractive.Terms(word)) == 1 {
					spelled = bare(word) // the knowledge base does its own stemming
				}
				rarity, known, hits, err := d.lookUpWord(ctx, spelled)
				if err != nil {
					return w, nil, err
				}
				if i+1 < len(words) && particle[bare(words[i+1])] { // "back up" is also written "backup"
					joined := bare(word) + bare(words[i+1])
					joinedRarity, joinedKnown, more, err := d.lookUpWord(ctx, joined)
					if err != nil {
						return w, nil, err
					}
					if joinedKnown {
						w.joined[extractive.Terms(joined)[0]] = term
						rarity, known, hits = max(rarity, joinedRarity), true, append(hits, more...)
					}
				}
				if !known && general < 1 {
					rarity = absentCommon // that a text does without such a word says nothing
				}
				w.of[term] *= math.Pow(rarity, 1.5)
				found = append(found, hits...)
			}
			total += w.of[term]
		}
	}
	for term := range w.of {
		if total > 0 {
			w.of[term] /= total
		}
	}
	w.order = slices.Sorted(maps.Keys(w.of))
	maps.DeleteFunc(w.pairs, func(p [2]string, _ bool) bool { return min(w.of[p[0]], w.of[p[1]]) < minPaired })
	return w, found, nil
}

// particle are words that join the verb before them: back up, log in.
var particle = map[string]bool{"up": true, "down": true, "in": true, "out": true, "off": true, "on": true, "back": true, "over": true}

// lookUpWord returns how rare a word is, whether the corpus has it, and the sections that say most about it.
func (d *draft) lookUpWord(ctx context.Context, word string) (rarity float64, known bool, hits []knowledge.SectionHit, err error) {
	if rarity, known, err = d.Sections.Rarity(ctx, word); err == nil && known {
		hits, err = d.Sections.Sections(ctx, word, perWord)
	}
	if err != nil {
		return 0, false, nil, fmt.Errorf("look up %q in the knowledge base: %w", word, err)
	}
	return rarity, known, hits, nil
}

// neighbours returns the terms that stand side by side in a text.
func neighbours(text string) map[[2]string]bool {
	ts := extractive.Terms(text)
	out := map[[2]string]bool{}
	for i := 1; i < len(ts); i++ {
		out[[2]string{ts[i-1], ts[i]}] = true
	}
	return out
}

func bare(word string) string {
	return strings.ToLower(strings.Trim(word, `.,;:?!()[]"'“”‘’`+"`"))
}

// enough is the weight of the topic's words that some section must have for the corpus to be about the topic: half of
// a short topic, less of a long one, which no section covers alone.
func (w weights) enough() float64 {
	words := 0
	for term := range w.of {
		if !framing[term] {
			words++
		}
	}
	return max(minCovered, min(0.5, 1.5/float64(max(1, words))))
}

// framing are words by which people ask, which say little about what they ask for.
var framing = terms(`advantages approaches best choose compare comparison current differ difference differences effects
	explain good impact latest methods options overview practice practices role should strategies strategy techniques tips
	types understand used uses using ways work works`)

func terms(words string) map[string]bool {
	set := map[string]bool{}
	for _, t := range extractive.Terms(words) {
		set[t] = true
	}
	return set
}

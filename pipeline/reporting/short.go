package reporting

import (
	"cmp"
	"regexp"
	"slices"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
)

const (
	shortAnswerMin, shortAnswerMax = 3, 5
	// shortAnswerFrom is the number of quotes from which a report opens with a selection of them.
	shortAnswerFrom = 6
	// tellingShare is the share of the best quote's score that another subject's must have to stand beside it.
	tellingShare = 0.6
	// alike is the similarity from which two quotes in one short answer are one too many.
	alike = 0.55
)

// shortAnswer returns the indexes of the quotes that say most about the topic, best first and from different places.
// They open the report and are not shown again, so a subject gives away none of its last two.
func (w *writer) shortAnswer(quotes []quote) []int {
	if len(quotes) < shortAnswerFrom {
		return nil
	}
	left := map[int]int{}
	order := make([]int, len(quotes)) // best first
	for i, q := range quotes {
		left[q.subject]++
		order[i] = i
	}
	telling := telling(quotes, w.query())
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(telling[b], telling[a]) })
	limit := min(max(len(quotes)/4, shortAnswerMin), shortAnswerMax)
	var short []int
	subjects, places := map[int]bool{}, map[string]bool{}
	take := func(i int) {
		q := quotes[i]
		short = append(short, i)
		subjects[q.subject], places[citation.Place(q.source)] = true, true
		left[q.subject]--
	}
	free := func(i int) bool {
		return !slices.Contains(short, i) && left[quotes[i].subject] > 2 && !places[citation.Place(quotes[i].source)] &&
			!slices.ContainsFunc(short, func(j int) bool {
				return extractive.Similarity(quotes[i].quote(), quotes[j].quote()) > alike
			})
	}
	for _, i := range order { // one of each subject first, as long as it has something to say
		if len(short) < limit && free(i) && !subjects[quotes[i].subject] && telling[i] >= tellingShare*telling[order[0]] {
			take(i)
		}
	}
	for _, i := range order {
		if len(short) < shortAnswerMin && free(i) {
			take(i)
		}
	}
	if len(short) < 2 { // one quote is no selection
		return nil
	}
	slices.SortFunc(short, func(a, b int) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	return short
}

// Weights of what makes a quote telling, beside the share of the topic's words that it speaks of, which is 0 to 1.
const (
	pairWeight    = 0.3  // words of the topic stand together as they do there
	centralWeight = 0.25 // it shares its words with many other quotes: it is about what the report is about
	sayingWeight  = 0.15 // it begins by saying what something of the topic is or does
	wordyPenalty  = 0.2  // too long or too short to be read first
	talkPenalty   = 0.15 // it talks to the reader, tells a story or gives an order
)

var (
	// saying matches a subject of up to five words with a verb that defines or states: "A checkpoint writes ..." does not
	// match, "A checkpoint is ...", "The log of changes ensures ..." do.
	saying = regexp.MustCompile(`^((?:[\pL\pN_.()'’-]+ ){1,5}?)(?:is|are|means|provides?|consists? of|allows?|ensures?|prevents?|guarantees?|represents?|supports?) `)
	talk   = regexp.MustCompile(`(?i)\b(?:you|your|we|our|i)\b|^(?:note|do not|don['’]t|remember|see|use|previously|for example)\b`)
)

// telling scores each quote by how much it says about the topic. Rarity within the report is no measure here: the word
// that all quotes share is the subject itself.
func telling(quotes []quote, query string) []float64 {
	asked := pairs(extractive.Terms(query))
	shared := make([]float64, len(quotes))
	most := 0.0
	for i := range quotes {
		for j := range i {
			similarity := extractive.Similarity(quotes[i].quote(), quotes[j].quote())
			shared[i] += similarity
			shared[j] += similarity
		}
	}
	for _, s := range shared {
		most = max(most, s)
	}
	scores := make([]float64, len(quotes))
	for i, q := range quotes {
		terms := extractive.Terms(q.quote())
		scores[i] = extractive.Relevance(q.quote(), query)
		found := 0
		for p := range pairs(terms) {
			if asked[p] {
				found++
			}
		}
		if len(asked) > 0 {
			scores[i] += pairWeight * min(1, float64(found)/min(2, float64(len(asked))))
		}
		if most > 0 {
			scores[i] += centralWeight * shared[i] / most
		}
		if m := saying.FindStringSubmatch(q.quote()); m != nil && extractive.Similarity(m[1], query) > 0 {
			scores[i] += sayingWeight
		}
		if talk.MatchString(q.quote()) {
			scores[i] -= talkPenalty
		}
		if words := countWords(q.quote()); words < 7 || words > 45 {
			scores[i] -= wordyPenalty
		}
	}
	return scores
}

// pairs returns the neighbours in a sequence of terms.
func pairs(terms []string) map[[2]string]bool {
	found := map[[2]string]bool{}
	for i := 1; i < len(terms); i++ {
		found[[2]string{terms[i-1], terms[i]}] = true
	}
	return found
}

// query is what the report answers: the topic's heading, or the user's own words when they are short enough to be
// weighed as a whole.
func (w *writer) query() string {
	if len([]rune(w.run.Topic)) <= 300 {
		return w.run.Topic
	}
	return w.title
}

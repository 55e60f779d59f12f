package reporting

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

const (
	shortAnswerMin, shortAnswerMax = 3, 4
	// shortAnswerFrom is the number of quotes from which a report opens with a selection of them.
	shortAnswerFrom = 6
	// tellingShare is the share of the best quote's score that another subject's must have to stand beside it.
	tellingShare = 0.7
	// fillingShare is that of a quote which fills up a short answer that would be shorter than it may be.
	fillingShare = 0.5
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
	w.favourLeads(quotes, telling)
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
		if len(short) < shortAnswerMin && free(i) && telling[i] >= fillingShare*telling[order[0]] {
			take(i)
		}
	}
	if len(short) < 2 { // one quote is no selection
		return nil
	}
	slices.SortFunc(short, func(a, b int) int {
		if quotes[a].home && quotes[b].home { // as the report goes on
			return cmp.Compare(quotes[a].subject, quotes[b].subject)
		}
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
	return short
}

// favourLeads raises the score of quotes that open the section that their subject was planned from, and lowers that of
// quotes from elsewhere.
func (w *writer) favourLeads(quotes []quote, scores []float64) {
	for i, q := range quotes {
		if !w.subjects[q.subject].hasHome() {
			continue
		}
		if !q.home {
			scores[i] -= awayPenalty
			continue
		}
		before := 0
		for _, o := range quotes {
			if o.subject == q.subject && o.home && o.offset() < q.offset() {
				before++
			}
		}
		if before < 2 {
			scores[i] += leadWeight / float64(1+before)
		}
	}
}

// Weights of what makes a quote telling, beside the share of the topic's words that it speaks of, which is 0 to 1.
const (
	pairWeight    = 0.3  // words of the topic stand together as they do there
	centralWeight = 0.25 // it shares its words with many other quotes: it is about what the report is about
	sayingWeight  = 0.15 // it begins by saying what something of the topic is or does
	wordyPenalty  = 0.2  // too long or too short to be read first
	talkPenalty   = 0.15 // it talks to the reader, tells a story or gives an order
	newsPenalty   = 0.3  // it says what has changed
	leadWeight    = 0.3  // it is the first quote of the section that its subject was planned from; half for the second
	awayPenalty   = 0.4  // it stands in another section
)

var (
	// saying matches a subject of up to five words with a verb that defines or states: "A checkpoint writes ..." does not
	// match, "A checkpoint is ...", "The log of changes ensures ..." do.
	saying = regexp.MustCompile(`^((?:[\pL\pN_.()'’-]+ ){1,5}?)(?:is|are|means|provides?|consists? of|allows?|ensures?|prevents?|guarantees?|represents?|supports?) `)
	news   = regexp.MustCompile(`(?i)\b(?:now|no longer|new|newer|previously|formerly|since version|as of|was added|were added|has been)\b`)
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
		if talk.MatchString(q.quote()) || extractive.Imperative(q.quote()) {
			scores[i] -= talkPenalty
		}
		if news.MatchString(q.quote()) {
			scores[i] -= newsPenalty
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

// longTopic is the length in characters above which a topic is a brief, of which the heading says most.
const longTopic = 300

// query is what the report answers: the topic's heading, or the user's own words when they are short enough to be
// weighed as a whole. Where the plan follows the structure of a corpus, only those words count that it has left in the
// starter queries, for they tell something there.
func (w *writer) query() string {
	query := w.title
	if len([]rune(w.run.Topic)) <= longTopic {
		query = w.run.Topic
	}
	told := map[string]bool{}
	for _, s := range w.subjects {
		for _, b := range s.blocks {
			for _, q := range b.Queries {
				if s.hasHome() && !topicqueue.IsPlace(q) {
					for _, term := range extractive.Terms(q) {
						told[term] = true
					}
				}
			}
		}
	}
	var words []string
	for word := range strings.FieldsSeq(query) {
		if slices.ContainsFunc(extractive.Terms(word), func(t string) bool { return told[t] }) {
			words = append(words, word)
		}
	}
	if len(words) > 0 {
		query = strings.Join(words, " ")
	}
	return query
}

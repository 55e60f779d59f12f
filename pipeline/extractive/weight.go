package extractive

// Weights of a term, by what its word says about the subject of a question.
const (
	weightWord    = 1.0
	weightCommon  = 0.5  // words of every subject
	weightGeneric = 0.15 // words that ask: overview, compare, work
)

// Weight returns how much a term, one of Terms, says about the subject of a question by what is known of words in
// general: 1 for a special word, less for words of every subject, little for words that ask.
func Weight(term string) float64 {
	switch {
	case generic[term]:
		return weightGeneric
	case common[term]:
		return weightCommon
	}
	return weightWord
}

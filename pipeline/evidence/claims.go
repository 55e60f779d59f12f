package evidence

import (
	"cmp"
	"slices"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Claim is a claim with its source.
type Claim struct {
	topicqueue.Claim
	Source  topicqueue.Source
	Block   string // its topic block; empty: not of interest
	Support int    // number of independent sources that state the claim; 0: unknown
}

// Passage returns the text shown when no model writes: the verbatim quote, or the claim's text if there is no quote.
func (c Claim) Passage() string {
	if q := topicqueue.OneLine(c.Quote); q != "" {
		return q
	}
	return topicqueue.OneLine(c.Text)
}

// Statement returns the claim's text, or its quote if there is no text.
func (c Claim) Statement() string {
	if t := topicqueue.OneLine(c.Text); t != "" {
		return t
	}
	return topicqueue.OneLine(c.Quote)
}

// Verbatim reports whether the statement is only the quote. A table row, for example, says little without its header.
func (c Claim) Verbatim() bool { return c.Statement() == topicqueue.OneLine(c.Quote) }

// Offset returns the byte position of the claim in the document.
func (c Claim) Offset() int { return c.Source.Offset + c.Start }

// Document identifies the document or page of the claim.
func (c Claim) Document() string {
	return cmp.Or(c.Source.URL, c.Source.Document, c.Source.Title, c.Source.ID)
}

// Collect returns the claims of the traces of a block, in order.
func Collect(traces []topicqueue.ToolTrace, block string) (claims []Claim) {
	for _, t := range traces {
		for _, c := range t.Claims {
			c.CitationID = cmp.Or(t.CitationID, c.CitationID)
			claims = append(claims, Claim{Claim: c, Source: t.Source, Block: block})
		}
	}
	return claims
}

// Citations returns the distinct citation ids of claims in order of appearance.
func Citations(claims []Claim) []string {
	var ids []string
	for _, c := range claims {
		if !slices.Contains(ids, c.CitationID) {
			ids = append(ids, c.CitationID)
		}
	}
	return ids
}

// CiteOnce gives a passage that several blocks found one citation, that of the first block, so that readers see it
// under one number. It returns the replaced citations with their replacements.
func CiteOnce(claims []Claim, traces []topicqueue.ToolTrace) map[string]string {
	type passage struct {
		source string
		asOf   topicqueue.AsOf // an archived version of a source differs from the current one
	}
	of := func(s topicqueue.Source) passage {
		p := passage{source: s.ID}
		if s.AsOf != nil {
			p.asOf = *s.AsOf
		}
		return p
	}
	first := map[passage]string{}
	for _, c := range claims {
		first[of(c.Source)] = cmp.Or(first[of(c.Source)], c.CitationID)
	}
	now := map[string]string{}
	for _, t := range traces {
		if t.Source.ID == "" {
			continue
		}
		id := cmp.Or(first[of(t.Source)], t.CitationID)
		first[of(t.Source)] = id
		if id != t.CitationID {
			now[t.CitationID] = id
		}
	}
	for i, c := range claims {
		claims[i].CitationID = cmp.Or(now[c.CitationID], c.CitationID)
	}
	return now
}

// Distinct removes claims that repeat another claim about the same passage.
func Distinct(claims []Claim) (list []Claim) {
	said, listed := Statements(claims), map[[2]string]int{}
	for i, c := range claims {
		key := [2]string{c.CitationID, said[i]}
		at, known := listed[key]
		switch {
		case !known:
			listed[key] = len(list)
			list = append(list, c)
		case list[at].Statement() != said[i] && c.Statement() == said[i]:
			list[at] = c
		}
	}
	return list
}

// sameFact is the least similarity of two claims with one quote that say the same.
const sameFact = 0.5

// Statements returns a statement for each claim, so that duplicates are equal. Claims that several blocks found with
// the same quote of one source get the statement of one of them, preferably one that is not verbatim. One sentence may
// also give several facts: claims with few words in common stay apart.
func Statements(claims []Claim) []string {
	type passage struct{ source, quote string }
	best := map[passage]int{}
	for i, c := range claims {
		at := passage{c.Source.ID, c.Quote}
		if first, known := best[at]; !known || claims[first].Verbatim() && !c.Verbatim() {
			best[at] = i
		}
	}
	said := make([]string, len(claims))
	for i, c := range claims {
		said[i] = c.Statement()
		one := claims[best[passage{c.Source.ID, c.Quote}]]
		if c.Quote != "" && one.Block != c.Block && (c.Verbatim() || text.Similarity(one.Text, c.Text) >= sameFact) {
			said[i] = one.Statement()
		}
	}
	return said
}

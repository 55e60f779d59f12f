package researching

import (
	"slices"
	"strings"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// minQuoteWords and minRowWords are the minimum lengths of a meaningful quote and table row. In scripts without spaces,
// two characters count as a word. A table row needs a label and a value.
const (
	minQuoteWords = 3
	minRowWords   = 2
)

// check keeps the claims whose quote is in a source of the chunk: in the document that the model named, or else in the
// only source that contains the quote. The claim's span is that of the source's own bytes.
func (t *noteTaker) check(chunk []recheck.Part, claims []prompts.NoteClaim) []recheck.Finding {
	q := newQuotes(t.sources, chunk)
	var found []recheck.Finding
	for _, c := range claims {
		quote := shortened(c.Quote)
		if words := text.CountWords(quote); words < minQuoteWords &&
			(words < minRowWords || !strings.Contains(strings.Trim(quote, "| "), "|")) {
			continue
		}
		source, start, end, ok := q.find(c.Source, quote)
		if !ok {
			continue
		}
		statement := topicqueue.OneLine(prompts.Unmarked(c.Text))
		if statement == "" || len(statement) > maxClaim {
			statement = topicqueue.OneLine(t.sources[source].Text[start:end])
		}
		found = append(found, recheck.Finding{Source: source, Text: statement, Start: start, End: end,
			Block: t.about(c.Block, statement)})
	}
	return found
}

// about returns the block that a claim is about if it is not this one: the block that the model named, if it exists.
// While planning, which is no block, the words of the claim decide otherwise.
func (t *noteTaker) about(named, statement string) string {
	named = strings.TrimSpace(named)
	best, most := "", -1.0
	for _, b := range t.view.Blocks {
		if b.ID == named {
			best = named
			break
		}
		if share := text.Coverage(statement, b.Title+"\n"+t.overviews[b.ID]); share > most && t.block.ID == "" {
			best, most = b.ID, share
		}
	}
	if best == t.block.ID {
		return ""
	}
	return best
}

// checkOrders keeps the orders whose words are in the source that the model named or in only one.
func (t *noteTaker) checkOrders(chunk []recheck.Part, orders []prompts.NoteOrder) (found []order) {
	q := newQuotes(t.sources, chunk)
	for _, o := range orders {
		source, start, end, ok := q.find(o.Source, shortened(o.Words))
		if ok && end > start {
			words := topicqueue.Clip(topicqueue.OneLine(t.sources[source].Text[start:end]), maxLine)
			found = append(found, order{source, words})
		}
	}
	return found
}

// quotes finds quotes in the sources of a chunk.
type quotes struct {
	sources []topicqueue.Source
	groups  [][]recheck.Part
	folded  map[int]text.Folded // by source; folded on first use
}

func newQuotes(sources []topicqueue.Source, chunk []recheck.Part) quotes {
	return quotes{sources, documents(sources, chunk), map[int]text.Folded{}}
}

// find returns the source that contains a quote: one of the document with this number, or else the only one.
func (q quotes) find(document int, quote string) (source, start, end int, ok bool) {
	if document >= 1 && document <= len(q.groups) {
		if source, start, end, n := q.in(q.groups[document-1], quote); n > 0 {
			return source, start, end, true
		}
	}
	source, start, end, n := q.in(slices.Concat(q.groups...), quote)
	return source, start, end, n == 1
}

// in returns the first source of these parts that contains a quote, and the number of those that do.
func (q quotes) in(parts []recheck.Part, quote string) (source, start, end, n int) {
	tried := map[int]bool{}
	for _, p := range parts {
		if tried[p.Source] {
			continue
		}
		tried[p.Source] = true
		f, ok := q.folded[p.Source]
		if !ok {
			f = text.Fold(q.sources[p.Source].Text)
			q.folded[p.Source] = f
		}
		if s, e, stands := f.Find(quote); stands {
			if n++; n == 1 {
				source, start, end = p.Source, s, e
			}
		}
	}
	return source, start, end, n
}

// shortened cuts an overlong quote to its leading sentences that fit; "" if none fits.
func shortened(quote string) string {
	if len(quote) <= maxClaim {
		return quote
	}
	end := 0
	for _, s := range text.Sentences(quote) {
		if s.End > maxClaim {
			break
		}
		end = s.End
	}
	return quote[:end]
}

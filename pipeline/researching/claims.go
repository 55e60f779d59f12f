package researching

import (
	"strings"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// maxClaims is the maximum number of claims per call in one answer. A page hardly has more on one sub-topic.
const maxClaims = 24

// minQuoteWords and minRowWords are the minimum lengths of a meaningful quote and table row. In scripts without spaces,
// two characters count as a word. A table row needs a label and a value.
const (
	minQuoteWords = 3
	minRowWords   = 2
)

// check keeps the claims whose quote is in a source of the chunk: the source that the model named, or the only one that
// contains the quote. The claim's span is that of the source's own bytes.
func (t *noteTaker) check(chunk []recheck.Part, claims []prompts.NoteClaim) []recheck.Finding {
	texts := map[int]text.Folded{} // by source; folded on first use
	folded := func(source int) text.Folded {
		f, ok := texts[source]
		if !ok {
			f = text.Fold(t.outcome.fresh[source].Text)
			texts[source] = f
		}
		return f
	}
	var found []recheck.Finding
	for _, c := range claims {
		if len(found) == maxClaims*max(1, len(t.asked)) {
			break
		}
		quote := shortened(c.Quote)
		if words := text.CountWords(quote); words < minQuoteWords &&
			(words < minRowWords || !strings.Contains(strings.Trim(quote, "| "), "|")) {
			continue
		}
		source, start, end, ok := 0, 0, 0, false
		if n := c.Source - 1; n >= 0 && n < len(chunk) {
			source = chunk[n].Source
			start, end, ok = folded(source).Find(quote)
		}
		if !ok {
			source, start, end, ok = onlySource(chunk, folded, quote)
		}
		if !ok {
			continue
		}
		statement := topicqueue.OneLine(prompts.Unmarked(c.Text))
		if statement == "" || len(statement) > maxClaim {
			statement = topicqueue.OneLine(t.outcome.fresh[source].Text[start:end])
		}
		found = append(found, recheck.Finding{Source: source, Text: statement, Start: start, End: end})
	}
	return found
}

// onlySource finds a quote that appears in exactly one source of the chunk.
func onlySource(chunk []recheck.Part, folded func(int) text.Folded, quote string) (source, start, end int, ok bool) {
	tried := map[int]bool{}
	for _, p := range chunk {
		if tried[p.Source] {
			continue
		}
		tried[p.Source] = true
		s, e, stands := folded(p.Source).Find(quote)
		if stands && ok {
			return 0, 0, 0, false
		}
		if stands {
			source, start, end, ok = p.Source, s, e, true
		}
	}
	return source, start, end, ok
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

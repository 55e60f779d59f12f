package support

import "slices"

// periods are the words for how often: every day, once a week, per hour, monthly.
var periods = map[string]string{
	"second": "second", "sekunde": "second", "minute": "minute", "hour": "hour", "hourly": "hour", "stunde": "hour", "stündlich": "hour",
	"day": "day", "daily": "day", "tag": "day", "täglich": "day", "week": "week", "weekly": "week", "woche": "week", "wöchentlich": "week",
	"month": "month", "monthly": "month", "monat": "month", "monatlich": "month", "year": "year", "yearly": "year", "annually": "year", "jahr": "year", "jährlich": "year",
}

var (
	eachOf  = set(`every each per pro jede jeden jedes jeder`)
	howOft  = set(`once twice times einmal zweimal mal`)
	agoWord = set(`earlier later before after ago old long previously`)
)

// periodsIn returns the periods that words name, each once.
func periodsIn(words []word) map[string]bool {
	out := map[string]bool{}
	for i, w := range words {
		p := periods[w.low]
		if p == "" {
			continue
		}
		switch {
		case w.low != p && w.low[len(w.low)-2:] == "ly" || w.low == "daily" || w.low[max(0, len(w.low)-4):] == "lich":
			out[p] = true
		case i > 0 && eachOf[words[i-1].low]:
			out[p] = true
		case i > 1 && (words[i-1].low == "a" || words[i-1].low == "an") && (howOft[words[i-2].low] || len(words[i-2].terms) > 0) && (i+1 == len(words) || !agoWord[words[i+1].low]):
			out[p] = true
		}
	}
	return out
}

// otherPeriod returns the period of the sentence, where what the sources say of it is of another one: 17,000 a week, for 17,000 a
// day.
func (s *statement) otherPeriod(ws []window) string {
	mine := periodsIn(s.words)
	if len(mine) != 1 {
		return ""
	}
	all, best := s.passages(ws)
	other := false
	for _, p := range all {
		theirs := periodsIn(p.words)
		for period := range mine {
			if theirs[period] {
				return ""
			}
		}
		if p.share >= sameDenied && p.share >= nearlyBest*best && len(theirs) == 1 && s.sameFigures(p) {
			other = true
		}
	}
	if !other {
		return ""
	}
	at := slices.IndexFunc(s.words, func(w word) bool { return mine[periods[w.low]] })
	return s.words[at].raw
}

// sameFigures reports that a passage has all figures of the sentence: of other ones the period may be converted.
func (s *statement) sameFigures(p passage) bool {
	for _, q := range s.quantities {
		if !slices.ContainsFunc(p.source.quantities, func(o placed) bool {
			return o.unit == p.unit && agree(q, o.Quantity, s.text[q.Start:q.End], o.raw) >= rough
		}) {
			return false
		}
	}
	return true
}

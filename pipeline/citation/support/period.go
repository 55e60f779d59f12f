package support

import (
	"cmp"
	"slices"
)

// periods are the words for them that need another one to say how often, every day, once a week, per hour; often those that say it.
var (
	periods = map[string]string{
		"second": "second", "sekunde": "second", "minute": "minute", "hour": "hour", "stunde": "hour", "day": "day", "tag": "day",
		"week": "week", "woche": "week", "month": "month", "monat": "month", "year": "year", "jahr": "year",
	}
	often = map[string]string{
		"hourly": "hour", "stündlich": "hour", "daily": "day", "täglich": "day", "weekly": "week", "wöchentlich": "week",
		"monthly": "month", "monatlich": "month", "yearly": "year", "annually": "year", "jährlich": "year",
	}
)

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
		switch {
		case often[w.low] != "":
			out[often[w.low]] = true
		case p == "":
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
func (s *statement) otherPeriod(all []passage, best float64) string {
	mine := periodsIn(s.words)
	if len(mine) != 1 {
		return ""
	}
	other := false
	for _, p := range all {
		theirs := periodsIn(p.words)
		for period := range mine {
			if theirs[period] {
				return ""
			}
		}
		if p.share >= sameDenied && p.share >= nearlyBest*best && len(theirs) == 1 && s.figuresIn(p) == len(s.quantities) { // of other figures the period may be converted
			other = true
		}
	}
	if !other {
		return ""
	}
	at := slices.IndexFunc(s.words, func(w word) bool { return mine[cmp.Or(periods[w.low], often[w.low])] })
	return s.words[at].raw
}

package extractive

import (
	"slices"
	"strings"
)

// Overview returns two or three sentences of text that introduce what query asks about, in the order of the text and
// joined by spaces; line breaks within a sentence become spaces, nothing else is changed. It is shorter or empty when
// text has no more that are fit. An empty query asks for what text itself speaks of most.
func Overview(text, query string) string {
	if len(Terms(query)) == 0 {
		query = strings.Join(Keywords([]string{text}, 5), " ")
	}
	ranked := Rank([]string{text}, query, 6)
	if len(ranked) == 0 {
		return ""
	}
	// An overview opens a section: what stands first in the text introduces better than what only scores as well.
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		switch ra, rb := introduces(a, len(text)), introduces(b, len(text)); {
		case ra > rb:
			return -1
		case ra < rb:
			return 1
		}
		return 0
	})
	var chosen []Ranked
	sentences, size := 0, 0
	for _, r := range ranked {
		n := len(Sentences(r.Text))
		if sentences+n > 3 || size+len(r.Text) > maxOverview && sentences > 0 {
			continue
		}
		chosen = append(chosen, r)
		sentences += n
		size += len(r.Text)
	}
	slices.SortFunc(chosen, func(a, b Ranked) int { return a.Start - b.Start })
	out := make([]string, len(chosen))
	for i, r := range chosen {
		out[i] = strings.Join(strings.Fields(r.Text), " ")
	}
	return strings.Join(out, " ")
}

// maxOverview is the length in bytes above which an overview takes no further sentence.
const maxOverview = 700

func introduces(r Ranked, length int) float64 {
	return r.Score * (1 - 0.5*float64(r.Start)/float64(length+1))
}

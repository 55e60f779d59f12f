package support

import (
	"slices"
	"strings"
)

// mutual are words between two names that hold in both directions, or of each alone.
var mutual = set(`merg partner collabor differ meet met agre talk compet marri border equal similar resembl compar relat unlik like versus vs between work togeth share lie stand remain`)

// swapped returns a part of the sentence in which two names stand in each other's place: A acquired B, where every
// source sentence that has both and the same word between them says that B acquired A.
func (s *statement) swapped(texts []*text) string {
	if len(s.names) < 2 {
		return ""
	}
	for i, a := range s.names[:min(len(s.names), 12)] {
		for _, b := range s.names[i+1 : min(len(s.names), 12)] {
			first, second := s.words[a.words[len(a.words)-1]], s.words[b.words[len(b.words)-1]]
			if first.low == second.low || !named(a, first, texts) || !named(b, second, texts) {
				continue
			}
			if s.swappedPair(a, b, first, second, texts) {
				return s.text[s.words[a.words[0]].start:second.end]
			}
		}
	}
	return ""
}

// named reports a name that is not just the first word of the sentence.
func named(n name, last word, texts []*text) bool {
	return !n.weak || slices.ContainsFunc(texts, func(t *text) bool { return !t.small[last.term()] })
}

func (s *statement) swappedPair(a, b name, first, second word, texts []*text) bool {
	from, to := a.words[len(a.words)-1]+1, b.words[0]
	if to-from > 12 || to <= from {
		return s.ways(a, b) != 0 && s.wayTurned(a, b, first, second, texts)
	}
	if comparesIn(s.words[from:to]) { // A ran faster than B
		return false
	}
	straight, reversed := 0, 0
	for i := from; i < to; i++ {
		verb := s.words[i]
		term := verb.term()
		if term == "" || verb.number() || mutual[term] || verb.capital() || isNoun(s.words, i) {
			continue
		}
		if i+1 < to && (s.words[i+1].low == "with" || s.words[i+1].low == "mit") { // the war between A and B ended with the treaty of C
			continue
		}
		passive := by(s.words, i, to)
		for _, t := range texts {
			for _, u := range t.postings[term] {
				switch t.order(t.units[u], first.low, second.low, term, passive) {
				case 1:
					straight++
				case -1:
					reversed++
				}
			}
		}
	}
	if reversed > 0 && straight == 0 {
		return true
	}
	return straight == 0 && s.ways(a, b) != 0 && s.wayTurned(a, b, first, second, texts)
}

// comparesIn reports a comparison between two names.
func comparesIn(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.low == "than" || w.low == "als" })
}

// beforeNoun words stand before nouns.
var beforeNoun = set(`the a an of in on at for with from his her its their this that these those which der die das des dem den ein eine einen einem einer im vom zum zur le la les un une du de`)

// isNoun reports a word that is no verb, as far as its neighbours tell: the town, a turning point, town, which.
func isNoun(words []word, i int) bool {
	if i > 0 && beforeNoun[words[i-1].low] && words[i-1].low != "which" && words[i-1].low != "that" {
		return true
	}
	if i > 1 && strings.HasSuffix(words[i-1].low, "ing") && beforeNoun[words[i-2].low] {
		return true
	}
	return i+1 < len(words) && words[i+1].low == "of"
}

// by reports that "by" stands shortly behind word i: what comes after it does what the verb says.
func by(words []word, i, to int) bool {
	for j := i + 1; j < to && j <= i+3 && j < len(words); j++ {
		if words[j].low == "by" || words[j].low == "von" || words[j].low == "durch" {
			return true
		}
	}
	return false
}

// order returns 1 when a unit has the names around the word as the sentence has them, -1 when it has them the other way
// round, 0 when it cannot be told. passive: in the sentence.
func (t *text) order(u unit, first, second, term string, passive bool) int {
	words := t.words[u.from:u.to]
	if len(words) > 120 {
		return 0
	}
	result := 0
	for v, w := range words {
		if w.term() != term || isNoun(words, v) {
			continue
		}
		// Where a name stands on both sides, what is said of whom cannot be told: that is no exchange.
		var before, behind [2]bool
		at := len(words)
		for i, o := range words {
			for k, name := range [2]string{first, second} {
				if o.low == name && i < v {
					before[k] = true
				} else if o.low == name && i > v {
					behind[k] = true
					at = min(at, i)
				}
			}
		}
		straight, reversed := before[0] && behind[1], before[1] && behind[0]
		if by(words, v, at) != passive {
			straight, reversed = reversed, straight
		}
		if straight {
			return 1
		}
		if reversed {
			result = -1
		}
	}
	return result
}

// ways returns 1 when the first name is where something comes from and the second where it goes, -1 for the reverse.
func (s *statement) ways(a, b name) int {
	return way(s.words, a.words[0], b.words[0])
}

func way(words []word, a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	x, y := words[a-1].low, words[b-1].low
	switch {
	case source(x) && target(y):
		return 1
	case target(x) && source(y):
		return -1
	}
	return 0
}

func source(w string) bool { return w == "from" || w == "von" || w == "aus" }
func target(w string) bool { return w == "to" || w == "into" || w == "nach" }

// wayTurned reports that sources have the two names the other way round: from Paris to Berlin.
func (s *statement) wayTurned(a, b name, first, second word, texts []*text) bool {
	want := s.ways(a, b)
	firstWord, secondWord := s.words[a.words[0]].low, s.words[b.words[0]].low
	turned := false
	for _, t := range texts {
		for _, u := range t.units {
			words := t.words[u.from:u.to]
			if len(words) > 120 {
				continue
			}
			x, y := -1, -1
			for i, w := range words {
				if w.low == firstWord && x < 0 {
					x = i
				}
				if w.low == secondWord && y < 0 {
					y = i
				}
			}
			if x < 0 || y < 0 {
				continue
			}
			switch way(words, x, y) {
			case want:
				return false
			case -want:
				turned = true
			}
		}
	}
	return turned
}

// sameWord joins words that reports put for those of their sources, by their stems.
var sameWord = readSame(`
	acquir buy bought purchas acquisit
	compani firm corpor enterpris
	employe employ staff worker
	car automobil
	usual typic general normal common
	begin start commenc
	end finish conclud
	big larg
	build construct built
	show demonstr reveal
	help assist aid
	need requir
	method techniqu
	research scientist
	child children kid
	film movi
	doctor physician
	roughli approxim
	fail failur
	quick fast rapid quickli rapidli
	choos select pick
	creat produc generat
	kill die death dead
	illness diseas sick
	modifi chang alter
	keep retain maintain
	store save
	locat situat
	near close
	annual year yearli
	earn incom
	revenu sale turnov
	increas rise rose grow grew growth climb gain surg expand expans jump soar rais
	stand stood
	take took taken
	lose lost
	leav left
	give gave given
	make made
	come came
	go went gone
	see saw seen
	know knew known
	pay paid
	sell sold
	tell told
	bring brought
	speak spoke spoken
	break broke broken
	meet met
	win won
	lead led
	feed fed
	spend spent
	draw drew drawn
	drive drove driven
	teach taught
	decreas declin fall fell drop reduc reduct shrink plung`)

func readSame(list string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(list, "\n") {
		words := strings.Fields(line)
		for _, w := range words {
			out[w] = words[0]
		}
	}
	return out
}

package extractive

import "strings"

// finite reports whether English words hold a finite verb of a main clause: more verbs than there are clauses opened
// by "that", "when" and the like. It keeps out menus, labels and the entries of reference lists; it is no parser.
func finite(ws []word) bool {
	found, clauses := 0, 0
	last := -9 // word at which a verb was counted: an auxiliary and its participle are one
	for i, w := range ws {
		if i > 0 && len(w.raw) > 1 && w.raw == strings.ToUpper(w.raw) {
			continue // keywords: "the WHERE clause"
		}
		if subordinators[w.low] && opensClause(ws, i) {
			clauses++
			last = -9
			continue
		}
		if clauses > 0 && i > 0 && (ws[i-1].low == "and" || ws[i-1].low == "or") {
			continue // "A manager that opens a file and closes it" has a second verb, but still in its clause
		}
		if i-last > 2 && verbAt(ws, i) {
			found++
			last = i
		}
	}
	if found > 0 && strings.HasPrefix(ws[len(ws)-1].after, "?") { // "Why does it ...?"
		return true
	}
	return found > clauses
}

// opensClause reports that the subordinator at i is followed by a clause with a verb of its own; not so in "how to
// do", "when converting", "because of", "in that case", "as a result".
func opensClause(ws []word, i int) bool {
	if i+1 >= len(ws) {
		return false
	}
	next := ws[i+1].low
	if next == "to" || next == "of" || hasSuffixAny(next, "ing", "ed") || next == "possible" || next == "necessary" || next == "needed" {
		return false
	}
	switch ws[i].low {
	case "that":
		if next == "is" && ws[i+1].after == "," {
			return false
		}
		return i == 0 || !preposition[ws[i-1].low] && !subordinators[ws[i-1].low]
	case "as", "once":
		for j := i + 1; j < len(ws) && j <= i+4; j++ {
			if auxiliary[ws[j].low] {
				return true
			}
			if ws[j].after != "" {
				break
			}
		}
		return false
	case "since":
		return ws[i].after == "" && !strings.ContainsAny(next, "0123456789")
	}
	return true
}

var preposition = set(`in within of for from to with by on at into onto under over after before during through without like`)

// verbAt reports a word that is a finite verb, as far as it and its neighbours tell.
func verbAt(ws []word, i int) bool {
	low, before := ws[i].low, ""
	if i > 0 {
		before = ws[i-1].low
	}
	switch {
	case strings.HasPrefix(ws[i].after, "("): // match() is a name
		return false
	case auxiliary[low], irregular[low]:
		return before != "to"
	case verbs[low] && (i == 0 || bareVerbAfter(before)):
		return true
	case len(low) > 4 && strings.HasSuffix(low, "ed") && !strings.Contains(low, "-"):
		return i > 0 && !articles[before] && !(i <= 3 && entryNoun[before] && ws[0].low != "the") && endsPhrase(ws, i)
	case len(low) > 3 && hasSuffixAny(low, "n't", "n’t", "'re", "'ll", "'ve", "’re", "’ll", "’ve"):
		return true
	}
	if _, ok := thirdPerson(low); ok {
		return !articles[before] && before != "of" && !(i > 1 && strings.HasSuffix(before, "ing") && preposition[ws[i-2].low]) // "for skipping tests"
	}
	return len(low) > 3 && low[len(low)-1] == 's' && i > 0 && i+1 < len(ws) && ws[i].after == "" && objectWord[ws[i+1].low]
}

var articles = set(`the a an these those all its their any each every no some`)

// bareVerbAfter reports a word after which a base form is a verb rather than a noun: a plural, "you", an adverb.
func bareVerbAfter(low string) bool {
	switch low {
	case "you", "we", "they", "i", "not", "also", "who", "which", "that", "then", "people", "please", "and", "or", "must":
		return true
	case "this", "its", "is", "was", "has", "as", "various", "previous", "whose", "less", "us":
		return false
	}
	return len(low) > 3 && (strings.HasSuffix(low, "s") && !hasSuffixAny(low, "ss", "us", "'s", "’s") || strings.HasSuffix(low, "ly"))
}

// endsPhrase reports that the word at i is not followed by a noun which it would describe, as in "shared libraries".
func endsPhrase(ws []word, i int) bool {
	if i+1 >= len(ws) || ws[i].after != "" {
		return true
	}
	next := ws[i+1].low
	return next == "" || stopWords[next] || objectWord[next] || digit(next[0]) || strings.HasSuffix(next, "ly") || capital(ws[i+1].raw)
}

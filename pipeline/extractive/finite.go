package extractive

import "strings"

// finite reports whether English words hold a finite verb of a main clause: more verbs than there are clauses opened
// by "that", "when" and the like. It keeps out menus, labels and the entries of reference lists; it is no parser.
func finite(ws []word) bool {
	if ws[0].low == "to" && !purpose(ws) {
		return false
	}
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
	return found > clauses || mainVerb(ws) || bareVerb(ws)
}

// purpose reports that words which open with an infinitive go on with what is done for it: "To free the space, the tables
// are rewritten" is a sentence, "To free the space, which takes a while" an entry of a list.
func purpose(ws []word) bool {
	for i := 0; i+3 < len(ws); i++ {
		next := ws[i+1].low
		if strings.HasSuffix(ws[i].after, ",") && !subordinators[next] && next != "and" && next != "or" && next != "to" {
			return true
		}
	}
	return false
}

// mainVerb reports a verb where only that of the main clause can stand: before any clause opens, or behind the comma
// after a clause that opens the sentence, unless that is an order: "If set, wait for ..." is an entry of a list.
func mainVerb(ws []word) bool {
	from := 0
	if subordinators[ws[0].low] {
		for from < len(ws) && !strings.HasSuffix(ws[from].after, ",") {
			from++
		}
		if from++; from >= len(ws) || verbs[ws[from].low] {
			return false
		}
	}
	for i := from; i < len(ws); i++ {
		if i > from && subordinators[ws[i].low] {
			return false
		}
		if i > from && ws[i-1].low != "and" && ws[i-1].low != "or" && verbAt(ws, i) && (auxiliary[ws[i].low] || irregular[ws[i].low] || i+1 < len(ws) && !strings.HasSuffix(ws[i].low, "ed")) {
			return true
		}
	}
	return false
}

// bareVerb reports a verb in its base form that nothing but its place gives away: behind a plural, or behind a plural
// and what follows it, and before what can follow a verb but hardly a noun. "Tides shape the coast", "The highest
// tides of the year come near the equinoxes".
func bareVerb(ws []word) bool {
	head := -1 // of the subject
	for i := 0; i+1 < len(ws); i++ {
		low := ws[i].low
		if subordinators[low] {
			return false
		}
		if head >= 0 && i > head && ws[i].after == "" && verbLike(low) && (objectNext[ws[i+1].low] || afterVerb[ws[i+1].low]) &&
			(i == head+1 || verbs[low] && !articles[ws[i-1].low] && !preposition[ws[i-1].low]) {
			return true
		}
		if head < 0 && plural(low) && ws[i].after == "" {
			head = i
		}
	}
	return false
}

// afterVerb are prepositions that follow a verb more often than a noun.
var afterVerb = set(`against near into onto across along through toward towards upon beyond past around from`)

// plural reports what reads as a plural noun.
func plural(low string) bool {
	return len(low) > 3 && low[len(low)-1] == 's' && !hasSuffixAny(low, "ss", "us", "is", "'s", "’s") && !stopWords[low] && !auxiliary[low]
}

// verbLike reports a word that can be a verb in its base form.
func verbLike(low string) bool {
	if verbs[low] {
		return true
	}
	if len(low) < 3 || stopWords[low] || hasSuffixAny(low, "s", "ing", "ed", "ly", "tion", "ment", "ness", "ity", "able", "al", "ic", "ous") {
		return false
	}
	for i := range len(low) {
		if low[i] < 'a' || low[i] > 'z' {
			return false
		}
	}
	return true
}

// opensClause reports that the subordinator at i is followed by a clause with a verb of its own; not so in "how to
// do", "when converting", "because of", "in that case", "as a result".
func opensClause(ws []word, i int) bool {
	if i+1 >= len(ws) {
		return false
	}
	next := ws[i+1].low
	relative := ws[i].low == "who" || ws[i].low == "which" || ws[i].low == "that"
	if next == "to" || next == "of" || strings.HasSuffix(next, "ing") || strings.HasSuffix(next, "ed") && !relative || next == "possible" || next == "necessary" || next == "needed" {
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

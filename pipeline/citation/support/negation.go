package support

import (
	"cmp"
	"slices"
	"strings"
)

// negation is a word that denies, and what it denies.
type negation struct {
	at      int // word
	word    string
	term    string          // its stem
	head    string          // first content word after it
	scope   map[string]bool // content words up to the end of the clause
	noun    bool            // "no servers fail": only head and rest together are denied
	part    bool            // in a relative clause, which tells what is meant: those that were not there
	trigger bool            // strong enough to say that the other text is its opposite
}

var (
	denying  = set(`not nobody niemand never cannot nicht nie niemals pas jamais`)
	denyNoun = set(`no without neither nor none kein keine keinen keiner keinem ohne sans`)
	denyVerb = set(`decline declines declined fail fails failed unable refuse refuses refused`) // to do it
	// averting words say that something does not happen; they do not make an opposite of what says that it can.
	averting = set(`beyond prevent prevents prevented avoid avoids avoided protect protects protected lack lacks lacked absence instead rather unlike unlikely badly poorly hardly barely scarcely partly insufficiently inadequately kaum unwahrscheinlich verhindert vermeidet`)
	// afterNot are words that make no denial of the whole: not only, no later than.
	afterNot = set(`only just merely until before later more less fewer longer than nur erst mehr weniger necessarily`)
	untrue   = set(`false untrue wrong incorrect falsch`)
	truth    = set(`true case correct accurate right wahr richtig`)
	denyWide = "不没未无無沒非"
	// notDeny are words of Chinese that begin like a denial.
	notDeny = set(`不同 不仅 不断 不少 不久 不过 不但 不到 不超 不足 不如 不管 不论 不只 未来 无论 无线 非常 非洲 无人 无数`)
)

// scopeWords bounds what a negation reaches, in content words.
const scopeWords = 6

// negations finds what is denied in words of a text.
func negations(s string, words []word) []negation {
	var out []negation
	for i, w := range words {
		n := negation{at: i, word: w.low, term: w.term(), scope: map[string]bool{}}
		cjk, skip := false, 0
		switch {
		case denying[w.low], strings.HasSuffix(w.low, "n't"), untrue[w.low] && i+1 < len(words) && words[i+1].low == "that":
			n.trigger = true
		case w.low == "no" && i+2 < len(words) && words[i+1].low == "longer" && words[i+2].low != "than":
			n.trigger, skip = true, 1
		case denyNoun[w.low]:
			n.trigger, n.noun = true, true
		case denyVerb[w.low] && i+1 < len(words) && words[i+1].low == "to":
			n.trigger = true
		case w.low == "rather" && i+1 < len(words) && words[i+1].low == "than":
			n.trigger, n.part, skip = true, true, 1
		case averting[w.low]:
		case strings.Contains(denyWide, firstChar(w.low)) && !notDeny[w.low]:
			n.trigger, cjk = true, true
		default:
			continue
		}
		if i+1 < len(words) && skip == 0 && afterNot[words[i+1].low] || n.noun && exceptBehind(words, i) {
			continue
		}
		count, next, whole := 0, i+1+skip, false
		if cjk && strings.ContainsAny(w.low, "有能会可曾") { // the word after both characters
			next++
		}
		for j := next; j < len(words) && count < scopeWords; j++ {
			if j > next {
				if between := s[words[j-1].end:max(words[j-1].end, words[j].start)]; n.head != "" && strings.ContainsAny(between, "()") || strings.ContainsAny(between, ",;:") || strings.ContainsAny(between, "，；。、") || clauseWords[words[j].low] && words[j].low != "and" && words[j].low != "und" {
					break
				}
			}
			if n.head == "" && words[j].number() { // not to 16: figures are checked by themselves
				break
			}
			if !whole && (words[j].low == "until" || words[j].low == "till") { // not until nine: only at nine
				n.trigger = false
			}
			term := words[j].term()
			if term == "" || words[j].number() {
				continue
			}
			if n.head == "" && truth[words[j].low] {
				whole = true
				continue // "it is not true that": what follows is denied
			}
			if n.head == "" && !strings.HasSuffix(words[j].low, "ly") {
				n.head = term
			}
			n.scope[term] = true
			count++
		}
		if i > 0 && (w.low == "not" || w.low == "nicht") { // from Paris, not from Rome; by the guard and not by the alarm
			n.part = strings.HasSuffix(strings.TrimRight(s[:w.start], " "), ",") || words[i-1].low == "and" || words[i-1].low == "und"
		}
		for j := max(0, i-3); j < i; j++ {
			n.part = n.part || relative[words[j].low]
		}
		for j := i - 1; j >= 0 && n.head == "" && j > i-scopeWords && len(n.scope) < 2; j-- { // housing, to which it does not apply
			if term := words[j].term(); term != "" && !words[j].number() {
				n.scope[term] = true
			}
			if len(n.scope) == 2 {
				n.head, n.trigger = words[j].term(), false
			}
		}
		if n.head != "" {
			out = append(out, n)
		}
	}
	return out
}

// exceptBehind reports "no gain but": what follows is stated.
func exceptBehind(words []word, i int) bool {
	for j := i + 2; j < len(words) && j < i+6; j++ {
		if words[j].low == "but" || words[j].low == "except" {
			return true
		}
	}
	return false
}

func firstChar(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

// Shares of a sentence's words that a source sentence must have, alone, to be held against it, and that of the best.
const (
	sameMatter  = 0.4
	sameDenied  = 0.5 // when it denies what the statement says
	nearlyBest  = 0.75
	someOfIt    = 0.25 // of what may speak for it
	weighsTerms = 2
)

// passage is a source sentence with what the statement shares with it.
type passage struct {
	source *text
	unit   int
	text   string
	words  []word
	terms  map[string]bool // all content words of it
	share  float64
	own    float64 // of the share, what does not come from the title
}

// mostPassages bounds how many sentences of the sources are held against a statement.
const mostPassages = 16

// passages returns the sentences of the sources that have most of the statement's words, and the share of the best.
func (s *statement) passages(ws []window) (all []passage, best float64) {
	type place struct {
		text  *text
		unit  int
		share float64
		own   float64
	}
	var places []place
	for _, w := range ws {
		covered := map[int]map[int]bool{}
		for i, term := range s.terms {
			for _, u := range w.text.postings[term.text] {
				if covered[u] == nil {
					covered[u] = map[int]bool{}
				}
				covered[u][i] = true
			}
		}
		for u, terms := range covered {
			share := s.share(terms, w.text)
			best = max(best, share)
			places = append(places, place{w.text, u, share, s.weightOf(terms)})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.text.ID, b.text.ID), cmp.Compare(a.unit, b.unit))
	})
	for _, at := range places[:min(len(places), mostPassages)] {
		if at.share < someOfIt {
			break
		}
		u := at.text.units[at.unit]
		p := passage{source: at.text, unit: at.unit, text: at.text.Text, words: at.text.words[u.from:u.to], terms: map[string]bool{}, share: at.share, own: at.own}
		for _, word := range p.words {
			for _, term := range word.terms {
				p.terms[term] = true
			}
		}
		all = append(all, p)
	}
	return all, best
}

// negated returns the word that the sentence denies and the sources state, or the other way round; "" when there is none.
func (s *statement) negated(ws []window) string {
	all, best := s.passages(ws)
	if best < sameMatter {
		return ""
	}
	own := map[string]bool{}
	for _, term := range s.terms {
		own[term.text] = true
	}
	mine := negations(s.text, s.words)
	theirs := make([][]negation, len(all))
	heads := map[string]bool{}
	for i, p := range all {
		theirs[i] = negations(p.text, p.words)
		for _, n := range theirs[i] {
			heads[n.head] = true
		}
	}
	// What both deny in the same words says nothing of the rest.
	denied := inScope(slices.DeleteFunc(slices.Clone(mine), func(n negation) bool { return heads[n.head] }))
	deniedHeads := map[string]bool{}
	for _, n := range mine {
		deniedHeads[n.head] = true
	}
	for _, n := range mine {
		if !n.trigger || n.part {
			continue
		}
		stated, deniedToo := false, false
		for i, p := range all {
			if !p.terms[n.head] {
				continue
			}
			switch {
			case len(shared(inScope(besides(theirs[i], n.head)), n.scope)) > 0, anyOpposite(n.head, p.terms), p.deniesBefore(theirs[i], n.head):
				deniedToo = deniedToo || p.share >= someOfIt
			case p.share >= sameMatter && p.share >= nearlyBest*best && n.reaches(p.terms) && s.plainlySaid(p, theirs[i], n):
				stated = true
			}
		}
		if stated && !deniedToo {
			return n.head
		}
	}
	for i, p := range all {
		if p.share < sameDenied || p.share < nearlyBest*best || !s.namesIn(p) {
			continue
		}
		for _, n := range theirs[i] {
			if !n.trigger || !own[n.head] || deniedHeads[n.head] || len(shared(denied, n.scope)) > 0 || !n.reaches(own) || anyOpposite(n.head, own) {
				continue
			}
			elsewhere := false
			for j, o := range all {
				if j != i && o.share >= nearlyBest*p.share && o.terms[n.head] && !inScope(theirs[j])[n.head] {
					elsewhere = true
				}
			}
			// The word may also stand in the same source sentence without being denied.
			if !elsewhere && !statedBeside(p, n) {
				return n.head
			}
		}
	}
	return ""
}

// deniesBefore reports a German sentence that denies, in the same clause, behind a word: aus Landesmitteln nicht zu ersetzen.
func (p passage) deniesBefore(ns []negation, term string) bool {
	return p.source.language == "de" && slices.ContainsFunc(ns, func(n negation) bool {
		for i := n.at - 1; i >= 0 && !clauseBetween(p.text, p.words[i].end, p.words[i+1].start); i-- {
			if p.words[i].term() == term {
				return true
			}
		}
		return false
	})
}

// relative words begin a clause that tells which one is meant.
var relative = set(`that which who whom whose`)

// exclusive words make "no other has" of what a source states: the first to, the only one.
var exclusive = set(`first only sole solely alone last vacant except other`)

// ceasing words say that something is no more, or is not there.
var ceasing = set(`dropped discontinued abandoned withdrawn ceased lack lacks lacked lacking eingestellt fehlt fehlen fehlte mangels`)

// refusing words deny what they are followed by.
var refusing = set(`refuse refuses refused deny denies denied withhold withholds withheld verweigert verweigerte verweigern`)

// plainlySaid reports that a source sentence can be held against a denial: it has the names of the statement, and says
// nothing that comes to a denial in other words: never remarried, for did not marry again; the first to, for no other has.
func (s *statement) plainlySaid(p passage, theirs []negation, n negation) bool {
	if n.noun && p.followedBy(n.word) {
		return false
	}
	if slices.ContainsFunc(theirs, func(o negation) bool { return o.trigger && strings.HasSuffix(o.head, n.head) }) || !s.namesIn(p) {
		return false
	}
	for _, w := range p.words {
		if (ceasing[w.low] || refusing[w.low]) && !slices.ContainsFunc(s.words, func(o word) bool { return o.low == w.low }) {
			return false
		}
		if n.noun && exclusive[w.low] && s.compares() {
			return false
		}
	}
	return true
}

// compares reports a denial of others: no other has, nobody had before.
func (s *statement) compares() bool {
	return slices.ContainsFunc(s.words, func(w word) bool {
		return w.low == "other" || w.low == "others" || w.low == "before" || w.low == "previously" || w.low == "else" || w.low == "ever" || w.low == "since"
	})
}

// followedBy reports that the sentence behind a passage has a word: The record was 47.60. Neither was broken.
func (p passage) followedBy(low string) bool {
	for u := p.unit; u <= p.unit+2 && u < len(p.source.units); u++ {
		for _, w := range p.source.words[p.source.units[u].from:p.source.units[u].to] {
			if w.low == low {
				return true
			}
		}
	}
	return false
}

// namesIn reports that a source sentence has a word of each name of the statement, where it has any name.
func (s *statement) namesIn(p passage) bool {
	for _, n := range s.names {
		found := n.weak
		for _, i := range n.words {
			w := s.words[i]
			found = found || p.terms[w.term()] || p.terms[w.low] || slices.ContainsFunc(p.words, func(o word) bool { return o.low == w.low })
		}
		if !found {
			return false
		}
	}
	return true
}

// reaches reports that a text has enough of what is denied to be about the same: "no commits are lost" denies that
// commits are lost, not commits.
func (n negation) reaches(terms map[string]bool) bool {
	if !n.noun || len(n.scope) < weighsTerms {
		return true
	}
	count := 0
	for term := range n.scope {
		if terms[term] {
			count++
		}
	}
	return count >= weighsTerms
}

// besides leaves out the negation that the word with this stem is itself: not protected denies protected.
func besides(ns []negation, head string) []negation {
	return slices.DeleteFunc(slices.Clone(ns), func(n negation) bool { return n.term == head })
}

func inScope(ns []negation) map[string]bool {
	out := map[string]bool{}
	for _, n := range ns {
		for term := range n.scope {
			out[term] = true
		}
	}
	return out
}

// statedBeside reports that the head of a negation stands in the sentence more often than it is denied.
func statedBeside(p passage, n negation) bool {
	count := 0
	for _, w := range p.words {
		if w.term() == n.head {
			count++
		}
	}
	denied := 0
	for _, o := range negations(p.text, p.words) {
		if o.scope[n.head] {
			denied++
		}
	}
	return count > denied
}

// anyOpposite reports that a text has the opposite of a word: not enabled and disabled are one.
func anyOpposite(term string, terms map[string]bool) bool {
	for other := range opposites[term] {
		if terms[other] {
			return true
		}
	}
	return false
}

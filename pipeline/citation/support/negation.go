package support

import "strings"

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
			if n.head == "" && !n.noun && words[j].number() { // not to 16: figures are checked by themselves
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
			if n.head == "" && (!strings.HasSuffix(words[j].low, "ly") || verbsInLy[words[j].low]) {
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

// verbsInLy are no adverbs.
var verbsInLy = set(`fly rely apply supply reply comply imply multiply ally family rally`)

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

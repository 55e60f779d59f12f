package evidence

import "strings"

// Subject returns what a claim speaks of, without what it says of it: only claims of one subject can contradict each other,
// so that those of many runs can be sorted before Weigh compares them. Empty when a claim says too little to contradict
// anything.
func Subject(c Claim) string {
	s := understand(c)
	if len(s.terms) < 2 {
		return ""
	}
	return strings.Join(s.terms, " ") + "\n" + strings.Join(s.ordinals, " ")
}

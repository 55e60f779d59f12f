package papers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Query is what is looked for.
type Query struct {
	// words, and phrases of several words with a space between them; without any sign of a query language
	Terms    []string
	From, To int // years of publication, both included; 0: open
	Limit    int // papers of one provider, at most
}

// Limits of a query: every provider takes this much.
const (
	maxTerms = 20
	maxTerm  = 100 // bytes
)

var (
	yearRange = regexp.MustCompile(`(?:^|\s)((?:1[5-9]|20)\d\d)?\.\.((?:1[5-9]|20)\d\d)?(?:\s|$)`)
	quoted    = regexp.MustCompile(`"[^"]*"`)
)

// ParseQuery reads keywords, phrases in double quotes and a range of years such as 2020..2024, 2020.. or ..2019.
// Whatever a query language could mean by a sign is dropped, operators too: the indexes do not share one.
func ParseQuery(text string, limit int) Query {
	q := Query{Limit: limit}
	text = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`).Replace(strings.ToValidUTF8(text, " "))
	if m := yearRange.FindStringSubmatch(text); m != nil && m[1]+m[2] != "" {
		q.From, _ = strconv.Atoi(m[1])
		q.To, _ = strconv.Atoi(m[2])
		if q.To != 0 && q.From > q.To {
			q.From, q.To = q.To, q.From
		}
		text = strings.Replace(text, m[0], " ", 1)
	}
	for _, phrase := range quoted.FindAllString(text, -1) {
		q.add(strings.Join(keywords(phrase), " "))
		text = strings.Replace(text, phrase, " ", 1)
	}
	for _, word := range keywords(text) {
		q.add(word)
	}
	return q
}

// Key returns the form by which equal queries are recognised: their words in any order and case, and their years. A
// query without words yields the empty string.
func (q Query) Key() string {
	key := topicqueue.CanonicalQuery(strings.Join(q.Terms, " "))
	if key != "" && (q.From != 0 || q.To != 0) {
		key += " " + year(q.From, "") + ".." + year(q.To, "")
	}
	return key
}

func (q *Query) add(term string) {
	if term = strings.TrimSpace(text.Start(term, maxTerm)); term != "" && len(q.Terms) < maxTerms &&
		!slices.Contains(q.Terms, term) {
		q.Terms = append(q.Terms, term)
	}
}

// keywords returns the words of a text: letters and digits, with hyphens, apostrophes and points inside.
func keywords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-'’.", r)
	})
	out := words[:0]
	for _, w := range words {
		w = strings.Trim(w, "-'’.")
		if w != "" && !slices.Contains([]string{"AND", "OR", "NOT", "ANDNOT"}, w) {
			out = append(out, w)
		}
	}
	return out
}

// text returns the terms with spaces between them, phrases in quotes when the provider knows those.
func (q Query) text(quotes bool) string {
	terms := slices.Clone(q.Terms)
	for i, t := range terms {
		if quotes && strings.Contains(t, " ") {
			terms[i] = `"` + t + `"`
		}
	}
	return strings.Join(terms, " ")
}

// year returns a year of the range, or what stands for an open end.
func year(y int, open string) string {
	if y == 0 {
		return open
	}
	return strconv.Itoa(y)
}

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

// Query is a parsed search query.
type Query struct {
	// words, and phrases of several words separated by a space; without query language operators
	Terms    []string
	From, To int // years of publication, inclusive; 0 means open
	Limit    int // maximum number of papers per provider
}

// Limits of a query, which every provider accepts.
const (
	maxTerms = 20
	maxTerm  = 100 // bytes
)

var (
	yearRange = regexp.MustCompile(`(?:^|\s)((?:1[5-9]|20)\d\d)?\.\.((?:1[5-9]|20)\d\d)?(?:\s|$)`)
	quoted    = regexp.MustCompile(`"[^"]*"`)
)

// ParseQuery parses keywords, phrases in double quotes and a range of years such as 2020..2024, 2020.. or ..2019. It
// drops operators and other characters of query languages, because the indexes do not share one.
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

// Key returns the canonical form of a query, which is the same for equal queries: words in any order and case, and
// years. A query without words yields the empty string.
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

// keywords returns the words of a text: letters and digits, with inner hyphens, apostrophes and periods.
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

// text returns the terms separated by spaces, with phrases in quotes if quotes is set.
func (q Query) text(quotes bool) string {
	terms := slices.Clone(q.Terms)
	for i, t := range terms {
		if quotes && strings.Contains(t, " ") {
			terms[i] = `"` + t + `"`
		}
	}
	return strings.Join(terms, " ")
}

// year returns y as text, or open if y is an open end of the range.
func year(y int, open string) string {
	if y == 0 {
		return open
	}
	return strconv.Itoa(y)
}

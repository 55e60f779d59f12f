package knowledge

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// maxTerms limits the words of a query, because a query may be a whole paragraph.
const maxTerms = 32

// terms returns the words of a query in order, without duplicates. It omits stop words if other words remain. Each word
// contains a letter or number. Runs of ideographs are split into pairs.
func terms(query string) []string {
	query = strings.ToValidUTF8(strings.ReplaceAll(query, "\x00", " "), " ")
	var all, content []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(pairs(query), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/'
	}) {
		w = strings.TrimFunc(strings.ToLower(w), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if w == "" || len(w) > 200 || seen[w] {
			continue
		}
		seen[w] = true
		all = append(all, w)
		if !text.StopWord(w) {
			content = append(content, w)
		}
	}
	if len(content) == 0 {
		content = all
	}
	return content[:min(len(content), maxTerms)]
}

// pairs splits runs of ideographs into overlapping pairs. A single ideograph is kept.
func pairs(query string) string {
	if strings.IndexFunc(query, ideograph) < 0 {
		return query
	}
	fields := strings.Fields(segment(query))
	return strings.Join(slices.DeleteFunc(fields, func(f string) bool {
		r := []rune(f)
		// the last character of a longer run is already part of the last pair
		return len(r) == 1 && ideograph(r[0]) && slices.ContainsFunc(fields, func(o string) bool {
			rs := []rune(o)
			return len(rs) == 2 && ideograph(rs[1]) && rs[1] == r[0]
		})
	}), " ")
}

// quoted returns a term as an FTS5 string literal. A single ideograph becomes a prefix search for pairs.
func quoted(term string) string {
	q := `"` + strings.ReplaceAll(term, `"`, `""`) + `"`
	if r := []rune(term); len(r) == 1 && ideograph(r[0]) {
		q += "*"
	}
	return q
}

// anyOf returns an FTS5 query for passages that contain any of the terms in the given columns.
func anyOf(columns string, terms []string) string {
	q := make([]string, len(terms))
	for i, t := range terms {
		q[i] = quoted(t)
	}
	return "{" + columns + "} : (" + strings.Join(q, " OR ") + ")"
}

// phrase returns an FTS5 query for the consecutive words of a name in any column.
func phrase(name string) string {
	return `"` + strings.ReplaceAll(strings.Join(strings.Fields(pairs(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00",
		" "), " "))), " "), `"`, `""`) + `"`
}

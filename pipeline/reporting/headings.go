package reporting

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
)

// Headings are alike when one of them is the other with a modifier: "Memory Model", "The Go Memory Model", "How does the
// Go memory model work?". A part of a heading that joins several things is a heading of its own.
const (
	// alikeShare is the share of a heading's weight from which the part that another one has is the thing itself.
	alikeShare = 0.55
	// framingWeight is that of a word from which it says what a heading is about: "overview" and "work" weigh less.
	framingWeight = 0.5
)

// likeHeading reports whether two headings on one page would be read as the same.
func likeHeading(a, b string) bool { return sameTitle(a, b) || modified(a, b) || modified(b, a) }

// modified reports whether long is short, apart from words that only ask, with or without a modifier before it, or behind
// it after "of", "in" or "for".
func modified(short, long string) bool {
	if wideModified(short, long) {
		return true
	}
	part, whole := core(short), core(long)
	if len(part) == 0 || len(part) > len(whole) || differ(short, long) {
		return false
	}
	n := len(part)
	same := func(a, b []string) bool {
		return slices.EqualFunc(a, b, func(a, b string) bool { return slices.Equal(extractive.Terms(a), extractive.Terms(b)) })
	}
	var rest []string
	switch {
	case same(part, whole[len(whole)-n:]):
		rest = whole[:len(whole)-n]
	case same(part, whole[:n]) && slices.Contains([]string{"of", "in", "for"}, whole[n]):
		rest = whole[n+1:]
		if len(rest) > 0 && (rest[0] == "the" || rest[0] == "a") {
			rest = rest[1:]
		}
	default:
		return false
	}
	joins := func(word string) bool {
		return len(extractive.Terms(word)) == 0 || strings.ContainsAny(word[len(word)-1:], ",:;/&")
	}
	return !slices.ContainsFunc(rest, joins) && weightOf(part) >= alikeShare*(weightOf(part)+weightOf(rest))
}

// core is the heading from its first to its last word that says what it is about.
func core(heading string) []string {
	words := strings.Fields(heading)
	framing := func(word string) bool {
		return weightOf([]string{word}) < framingWeight
	}
	for len(words) > 0 && framing(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && framing(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

func weightOf(words []string) float64 {
	sum := 0.0
	for _, w := range words {
		heaviest := 0.0
		for _, term := range extractive.Terms(w) {
			heaviest = max(heaviest, extractive.Weight(term))
		}
		sum += heaviest
	}
	return sum
}

// wideModified is modified for scripts without spaces: "内存模型" and "Go语言内存模型".
func wideModified(short, long string) bool {
	a, b := titleKey(short), titleKey(long)
	last, _ := utf8.DecodeLastRuneInString(a)
	rest, ok := strings.CutSuffix(b, a)
	return ok && unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana) && !strings.ContainsAny(rest, "与和及、的") &&
		float64(utf8.RuneCountInString(a)) >= alikeShare*float64(utf8.RuneCountInString(b))
}

// documentOf returns the document that most of a subject's claims stand in, those at home first, and its title.
func (s subject) documentOf() (key, title string) {
	count := map[string]int{}
	most := 0
	for _, c := range s.claims {
		if s.hasHome() && !c.home {
			continue
		}
		if count[c.document()]++; count[c.document()] > most {
			most, key, title = count[c.document()], c.document(), CleanTitle(extractive.Heading(c.source.Title))
		}
	}
	return key, title
}

// sameSection reports whether two subjects were planned from one document, the one from a section that is called like
// the other: the author meant them as one.
func sameSection(a, b subject) bool {
	if !a.hasHome() || !b.hasHome() || !likeHeading(a.title, b.title) {
		return false
	}
	inA, _ := a.documentOf()
	inB, _ := b.documentOf()
	return inA == inB
}

// apart qualifies the title of a subject that is alike another one's with the document that it stands in.
func apart(subjects []subject) {
	for i, s := range subjects {
		in, document := s.documentOf()
		for j, o := range subjects {
			if i == j || !likeHeading(s.title, o.title) || len(s.title) > len(o.title) {
				continue
			}
			other, _ := o.documentOf()
			both := CleanTitle(document + ": " + s.title)
			if in != other && document != "" && !likeHeading(document, s.title) && !likeHeading(document, o.title) && utf8.RuneCountInString(both) <= maxQualified {
				subjects[i].title = both
				break
			}
		}
	}
}

// maxQualified is the length of a heading in characters up to which a document's title may stand before it.
const maxQualified = 90

// heading is what a section is called below the report's title. Once in a report, one that is called like the title
// itself gets a plain name: what it says is the report's subject.
func (w *writer) heading(title, reportTitle string, sections []section, plain *bool) string {
	if *plain || w.template != nil || !likeHeading(title, reportTitle) {
		return title
	}
	others := slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return s.title == title || s.title == w.words.shortAnswer })
	name := w.words.overview
	if len(others) == 0 { // a run of one block is called like its topic
		name = w.words.findings
	}
	if slices.ContainsFunc(others, func(s section) bool { return sameTitle(s.title, name) }) {
		return title
	}
	*plain = true
	return name
}

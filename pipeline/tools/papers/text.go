package papers

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Limits of index entries, in bytes unless noted.
const (
	maxTitle    = 1000
	maxAbstract = 12 << 10 // some "abstracts" are whole volumes
	maxAuthors  = 5000     // number of authors, as for a particle detector
	leastWords  = 6        // number of words; a shorter abstract is a remark such as "No abstract available."
)

var (
	isRetracted = regexp.MustCompile(`(?i)^\s*(?:(?:retracted|withdrawn)(?: (?:article|paper|chapter))?\s*` +
		`(?::|\s[–—-]\s)|\[(?:retracted|withdrawn)[^\]]{0,20}\]:?)\s*`)
	isNotice = regexp.MustCompile(`(?i)^\s*(?:retraction\s*:|(?:retraction|withdrawal) (?:note|notice)\b|` +
		`(?:notice|statement) of (?:retraction|withdrawal)\b)`)
	headline = regexp.MustCompile(`(?i)^(?:abstract|summary)\s*[:.]?\s*(?:\n|$)`)
	isDate   = regexp.MustCompile(`^(?:1[5-9]|20)\d\d(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?`)
)

// date returns the date at the start of s, or "".
func date(s string) string { return isDate.FindString(strings.TrimSpace(s)) }

// year returns the year of publication, or 0 if unknown.
func (p Paper) year() (y int) {
	for _, c := range p.Date[:min(4, len(p.Date))] {
		y = y*10 + int(c-'0')
	}
	return y
}

// normal returns a paper normalized as documented in Paper, or an empty Paper for a retraction notice.
func (p Paper) normal() Paper {
	p.Title = text.Start(topicqueue.OneLine(webpage.Plain(p.Title)), maxTitle)
	if isNotice.MatchString(p.Title) {
		return Paper{}
	}
	if mark := isRetracted.FindString(p.Title); mark != "" {
		p.Title, p.Retracted = strings.TrimSpace(p.Title[len(mark):]), true
	}
	if strings.HasSuffix(p.Title, ".") && !strings.HasSuffix(p.Title, "..") {
		p.Title = strings.TrimSuffix(p.Title, ".") // Europe PMC ends all titles with a period
	}
	p.Abstract = strings.TrimSpace(headline.ReplaceAllString(webpage.Plain(p.Abstract), ""))
	if len(p.Abstract) > maxAbstract {
		p.Abstract = text.Start(p.Abstract, maxAbstract)
		p.Abstract = p.Abstract[:max(strings.LastIndexAny(p.Abstract, " \n"), 0)]
	}
	// text in a language without spaces counts as one word
	if len(strings.Fields(p.Abstract)) < leastWords && len([]rune(p.Abstract)) < 60 {
		p.Abstract = ""
	}
	authors := make([]string, 0, len(p.Authors))
	for _, a := range p.Authors[:min(len(p.Authors), maxAuthors)] {
		if a = text.Start(topicqueue.OneLine(webpage.Plain(a)), 200); a != "" {
			authors = append(authors, a)
		}
	}
	p.Authors = authors
	p.Venue = text.Start(topicqueue.OneLine(webpage.Plain(p.Venue)), 300)
	p.Date = date(p.Date)
	p.CitedBy = max(p.CitedBy, 0)
	p.PDF, _, _ = fetch.CleanAddress(p.PDF)
	p.URL = p.landing()
	return p
}

// fold returns the words of a title for comparison: letters and digits in lower case without accents.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(s))
	return strings.Join(strings.Fields(s), " ")
}

// surname returns the folded surname of an author, from "Ludwig van Beethoven" or "Beethoven, Ludwig van".
func surname(author string) string {
	if last, _, ok := strings.Cut(author, ","); ok {
		author = last
	}
	words := strings.Fields(fold(author))
	for len(words) > 1 && slices.Contains([]string{"jr", "sr", "ii", "iii", "iv"}, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

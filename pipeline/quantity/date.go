package quantity

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dates are the forms of dates, with groups named y, q(uarter), h(alf), m(onth), d(ay). Month names are checked later.
var dates = compile(
	`(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?:T[0-9:.]+Z?)?`,
	`(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})`,
	`(?P<y>\d{4})\s?年(?:\s?(?P<m>\d{1,2})\s?月(?:\s?(?P<d>\d{1,2})\s?[日号])?)?`,
	`(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]`,
	`(?P<d>\d{1,2})\.[ \x{a0}]?(?P<m>\d{1,2})\.[ \x{a0}]?(?P<y>\d{4})`,
	`(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})`,
	`(?P<y>\d{4})[ \x{a0}-]?Q(?P<q>[1-4])`,
	`(?P<d>\d{1,2})(?:\.|st|nd|rd|th)?[ \x{a0}](?:of )?(?P<m>[A-Z][A-Za-zä]{2,8})\.?(?:,?[ \x{a0}](?:of )?(?P<y>\d{4}))?`,
	`(?P<d>\d{1,2})(?:er|º)?[ \x{a0}](?:de )?(?P<m>\p{Ll}{3,10})(?:[ \x{a0}](?:del? )?(?P<y>\d{4}))?`,
	`(?P<m>\p{Ll}{3,10})[ \x{a0}](?:del? )?(?P<y>\d{4})`,
	`[Qq](?P<q>[1-4])(?:[ \x{a0}](?:of )?|/|-)?(?:FY)?(?P<y>\d{4})`,
	`[Hh](?P<h>[1-2])(?:[ \x{a0}](?:of )?|/|-)?(?:FY)?(?P<y>\d{4})`,
	`FY[ \x{a0}]?(?P<y>\d{4})`,
	`(?i:(?P<q>first|second|third|fourth)[ -]quarter (?:of )?)(?P<y>\d{4})`,
	`(?P<m>[A-Z][A-Za-zä]{2,8})\.?,?[ \x{a0}](?:of )?(?P<y>\d{4})`,
	`(?P<m>[A-Z][A-Za-zä]{2,8})\.?[ \x{a0}](?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,?[ \x{a0}](?P<y>\d{4}))?`,
)

// form is one form of date.
type form struct {
	*regexp.Regexp
	digit bool // it begins with a digit
}

func compile(patterns ...string) []form {
	var out []form
	for _, p := range patterns {
		first := strings.TrimPrefix(p[strings.IndexByte(p, '>')+1:], "(")
		digit := strings.HasPrefix(first, `\d`) && strings.HasPrefix(p, "(?P")
		out = append(out, form{regexp.MustCompile("^" + p), digit})
	}
	return out
}

// date reads a date and returns its end, or i if there is none.
func (p *parser) date(i int) int {
	digit := digitAt(p.s, i)
	if !p.begins(i) {
		return i
	}
	s := p.s[i:min(len(p.s), i+40)]
	for _, f := range dates {
		if f.digit != digit {
			continue
		}
		if m := f.FindStringSubmatch(s); m != nil {
			if w, ok := p.when(f, m); ok {
				return p.put(i, m[0], w)
			}
		}
	}
	return i
}

// begins reports whether a date may begin at byte i, because trying all forms at every word is slow.
func (p input) begins(i int) bool {
	word, _ := wordAt(p.s, i)
	low := strings.ToLower(word)
	named := months[low] > 0 || smallMonths[word] > 0 || quarters[low] > 0
	short := low == "q" || low == "h" || low == "fy"
	return digitAt(p.s, i) || named || short
}

// when converts the match of a form to a date. ok is false if the day or month does not exist.
func (p *parser) when(f form, m []string) (w When, ok bool) {
	group := func(name string) string {
		if at := f.SubexpIndex(name); at >= 0 {
			return m[at]
		}
		return ""
	}
	name := strings.ToLower(group("q"))
	quarter := max(int(quarters[name]), atoi(name), 2*atoi(group("h"))) // a half-year ends with its second quarter
	w = When{Year: atoi(group("y")), Day: atoi(group("d")), Quarter: quarter}
	switch name := group("m"); {
	case name == "":
	case name[0] >= '0' && name[0] <= '9':
		w.Month = atoi(name)
	case name[0] >= 'A' && name[0] <= 'Z':
		w.Month = int(months[strings.ToLower(name)])
		german := p.commas || germanly[strings.ToLower(name)]
		if german && f.SubexpIndex("d") > f.SubexpIndex("m") { // seit Januar 9 Euro
			return w, false
		}
	default:
		w.Month = int(smallMonths[name])
	}
	// 3/4/2024 may be in April
	if f.SubexpIndex("y") > f.SubexpIndex("d") && f.SubexpIndex("d") > 0 && strings.Contains(m[0], "/") {
		switch {
		case w.Month > 12:
			w.Month, w.Day = w.Day, w.Month
		case w.Day <= 12:
			w.Month, w.Day = 0, 0
			return w, true
		}
	}
	missing := group("m") != "" && w.Month == 0 || group("d") != "" && w.Day == 0
	return w, !missing && w.Month <= 12 && w.Day <= 31
}

func (p *parser) put(i int, text string, w When) int {
	end := i + len(text)
	if digitAt(p.s, end) || attached(p.s, end) {
		return i
	}
	p.out = append(p.out, Quantity{Start: i, End: end, Kind: Date, When: w})
	return end
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// isYear reports whether a whole number of four digits is a year, because of the word before it or because no countable
// thing follows.
func (p input) isYear(q *Quantity, before string) bool {
	year := q.Low
	next := p.skipSpace(q.End, 1)
	word, _ := wordAt(p.s, next)
	lower := word != "" && word[0] >= 'a' && word[0] <= 'z'
	if beforeYear[before] {
		joins := before == "of" || before == "to" || before == "and" || before == "or"
		recent := year >= 1900 && year < 2100
		return !lower || behindYear[word] || recent && !joins
	}
	if year < 1500 || year >= 2100 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.s[next:])
	hyphen := next < len(p.s) && (r == '-' || r == '–') && !digitAt(p.s, next+utf8.RuneLen(r))
	endsSpan := strings.HasSuffix(p.s[:q.Start], "-") || strings.HasSuffix(p.s[:q.Start], "–") // 2024-2025
	if !lower && (r < 0x2e80 || endsSpan) && !hyphen {
		return true
	}
	article := before == "the" || before == "a" || before == "its" || before == "s"
	return year >= 1900 && article || behindYear[word]
}

package quantity

import (
	"regexp"
	"strconv"
	"strings"
)

// dates are the forms of dates, with groups named y, q(uarter), m(onth), d(ay). Month names are checked later.
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
	return digitAt(p.s, i) || months[low] > 0 || smallMonths[word] > 0 || low == "q"
}

// when converts the match of a form to a date. ok is false if the day or month does not exist.
func (p *parser) when(f form, m []string) (w When, ok bool) {
	group := func(name string) string {
		if at := f.SubexpIndex(name); at >= 0 {
			return m[at]
		}
		return ""
	}
	w = When{Year: atoi(group("y")), Day: atoi(group("d")), Quarter: atoi(group("q"))}
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

// isYear reports whether a whole number of four digits is a year: one of this century or the last, and not part of a
// compound such as 2000-page.
func (p input) isYear(q *Quantity) bool {
	hyphen := q.End+1 < len(p.s) && p.s[q.End] == '-' && !digitAt(p.s, q.End+1)
	return q.Low >= 1900 && q.Low < 2100 && !hyphen
}

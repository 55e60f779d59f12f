package quantity

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// months in English and German, in lower case.
var months = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
	"januar": 1, "jänner": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "okt": 10, "dezember": 12, "dez": 12,
}

// germanMonths are the names that are no English ones. No day follows them.
var germanMonths = set(`januar jänner februar märz mai juni juli oktober okt dezember dez`)

// smallMonths are months in languages that write them small: French, Spanish, Italian, Portuguese, Dutch, Russian. Only
// so written are they months: "Mars 2020" is a journey.
var smallMonths = func() map[string]int {
	found := map[string]int{}
	for i, names := range strings.Split(`janvier enero gennaio janeiro januari января январе
février febrero febbraio fevereiro februari февраля феврале
mars marzo março maart марта марте
avril abril aprile апреля апреле
mai mayo maggio maio mei мая мае
juin junio giugno junho juni июня июне
juillet julio luglio julho juli июля июле
août agosto augustus августа августе
septembre septiembre setiembre settembre setembro сентября сентябре
octobre octubre ottobre outubro oktober октября октябре
novembre noviembre novembro ноября ноябре
décembre diciembre dicembre dezembro декабря декабре`, "\n") {
		for name := range strings.FieldsSeq(names) {
			found[name] = i + 1
		}
	}
	return found
}()

const monthName = `([A-Za-zä]{3,9})`

var (
	isoDate    = regexp.MustCompile(`^(\d{4})-(\d{2})(?:-(\d{2}))?(?:T[0-9:.]+Z?)?`)
	slashDate  = regexp.MustCompile(`^(\d{4})/(\d{1,2})/(\d{1,2})`)
	dottedDate = regexp.MustCompile(`^(\d{1,2})\.[  ]?(\d{1,2})\.[  ]?(\d{4})`)
	mixedDate  = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})`)
	dayMonth   = regexp.MustCompile(`^(\d{1,2})(?:\.|st|nd|rd|th)?[  ](?:of )?` + monthName + `\.?,?(?:[  ](?:of )?(\d{4}))?`)
	monthDay   = regexp.MustCompile(`^` + monthName + `\.?[  ](\d{1,2})(?:st|nd|rd|th)?(?:,?[  ](\d{4}))?`)
	monthYear  = regexp.MustCompile(`^` + monthName + `\.?,?[  ](?:of )?(\d{4})`)
	smallMonth = regexp.MustCompile(`^(\p{Ll}{3,10})[  ](?:del? )?(\d{4})`)
	daySmall   = regexp.MustCompile(`^(\d{1,2})(?:er|º)?[  ](?:de )?(\p{Ll}{3,10})(?:[  ](?:del? )?(\d{4}))?`)
	hanDate    = regexp.MustCompile(`^(\d{4})\s?年(?:\s?(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号])?)?`)
	hanDay     = regexp.MustCompile(`^(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]`)
	quarterOf  = regexp.MustCompile(`^[QqHh]([1-4])(?:[  ](?:of )?|/|-)?(?:FY)?(\d{4})`)
	ofQuarter  = regexp.MustCompile(`^(\d{4})[  -]?[Q]([1-4])`)
	spelledQ   = regexp.MustCompile(`^(?i:(first|second|third|fourth)[ -]quarter (?:of )?)(\d{4})`)
	fiscal     = regexp.MustCompile(`^FY[  ]?(\d{4})`)
	quarters   = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4}
)

// dateFromDigit reads a date that begins with a digit and returns its end; i when there is none.
func (p *parser) dateFromDigit(i int) int {
	s := p.s[i:min(len(p.s), i+40)]
	if m := isoDate.FindStringSubmatch(s); m != nil {
		return p.date(i, m[0], m[1], m[2], m[3])
	}
	if m := slashDate.FindStringSubmatch(s); m != nil {
		return p.date(i, m[0], m[1], m[2], m[3])
	}
	if m := hanDate.FindStringSubmatch(s); m != nil {
		return p.date(i, m[0], m[1], m[2], m[3])
	}
	if m := hanDay.FindStringSubmatch(s); m != nil {
		return p.date(i, m[0], "", m[1], m[2])
	}
	if m := dottedDate.FindStringSubmatch(s); m != nil {
		return p.date(i, m[0], m[3], m[2], m[1])
	}
	if m := mixedDate.FindStringSubmatch(s); m != nil { // 3/4/2024 is March in one country and April in another
		switch {
		case m[1] > "12" && len(m[1]) == 2:
			return p.date(i, m[0], m[3], m[2], m[1])
		case m[2] > "12" && len(m[2]) == 2:
			return p.date(i, m[0], m[3], m[1], m[2])
		}
		return p.date(i, m[0], m[3], "", "")
	}
	if m := ofQuarter.FindStringSubmatch(s); m != nil {
		return p.put(i, m[0], When{Year: atoi(m[1]), Quarter: atoi(m[2])})
	}
	if m := dayMonth.FindStringSubmatch(s); m != nil {
		if month := months[strings.ToLower(m[2])]; month > 0 && m[2][0] < 'a' {
			return p.date(i, m[0], m[3], strconv.Itoa(month), m[1])
		}
	}
	if m := daySmall.FindStringSubmatch(s); m != nil && smallMonths[m[2]] > 0 {
		return p.date(i, m[0], m[3], strconv.Itoa(smallMonths[m[2]]), m[1])
	}
	return i
}

// dateFromWord reads a date that begins with a letter.
func (p *parser) dateFromWord(i int) int {
	s := p.s[i:min(len(p.s), i+40)]
	if m := smallMonth.FindStringSubmatch(s); m != nil && smallMonths[m[1]] > 0 {
		return p.date(i, m[0], m[2], strconv.Itoa(smallMonths[m[1]]), "")
	}
	if s[0] >= 'a' && s[0] <= 'z' && !strings.Contains(s, "quarter") { // you may 5 times
		return i
	}
	switch s[0] | 0x20 {
	case 'q', 'h':
		if m := quarterOf.FindStringSubmatch(s); m != nil {
			w := When{Year: atoi(m[2]), Quarter: atoi(m[1])}
			if s[0]|0x20 == 'h' {
				w.Quarter *= 2 // the half-year ends with it
			}
			return p.put(i, m[0], w)
		}
	case 'f', 's', 't':
		if m := fiscal.FindStringSubmatch(s); m != nil {
			return p.put(i, m[0], When{Year: atoi(m[1])})
		}
		if m := spelledQ.FindStringSubmatch(s); m != nil {
			return p.put(i, m[0], When{Year: atoi(m[2]), Quarter: quarters[strings.ToLower(m[1])]})
		}
	}
	if m := monthYear.FindStringSubmatch(s); m != nil && months[strings.ToLower(m[1])] > 0 {
		return p.date(i, m[0], m[2], strconv.Itoa(months[strings.ToLower(m[1])]), "")
	}
	if m := monthDay.FindStringSubmatch(s); m != nil && months[strings.ToLower(m[1])] > 0 && !p.commas && !germanMonths[strings.ToLower(m[1])] { // seit Januar 9 Euro
		return p.date(i, m[0], m[3], strconv.Itoa(months[strings.ToLower(m[1])]), m[2])
	}
	return i
}

// date puts down a date, unless there is no such day.
func (p *parser) date(i int, text, year, month, day string) int {
	w := When{Year: atoi(year), Month: atoi(month), Day: atoi(day)}
	if w.Month > 12 || w.Day > 31 || w.Month == 0 && w.Day > 0 || month != "" && w.Month == 0 || day != "" && w.Day == 0 {
		return i
	}
	return p.put(i, text, w)
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

// yearWords stand before years.
var yearWords = set(`in since by of from until till before after during through year years early late mid around circa and or to between
	im seit bis vor nach jahr jahre ab um ende anfang mitte winter summer spring autumn fall sommer herbst
	january february march april may june july august september october november december en depuis
	founded established built opened released published copyright born died`)

// isYear reports whether a whole number of four figures is a year: by the word before it, or because nothing that could
// be counted follows.
func (p *parser) isYear(q *Quantity, before string) bool {
	year := q.Low
	next := p.skipSpace(q.End, 1)
	word, _ := wordAt(p.s, next)
	lower := word != "" && word[0] >= 'a' && word[0] <= 'z'
	if yearWords[before] {
		return !lower || following[word] || year >= 1900 && year < 2100 && before != "of" && before != "to" && before != "and" && before != "or"
	}
	if year < 1500 || year >= 2100 {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(p.s[next:]); !lower && r < 0x2e80 && (next >= len(p.s) || r != '-' && r != '–') {
		return true
	}
	return year >= 1900 && (before == "the" || before == "a" || before == "its" || before == "s") || following[word]
}

// following are words that follow a year and nothing that is counted.
var following = set(`and or to the a an was were is are it they he she had has when after as for in on at by with but which that while
	und um wurde war waren ist bis der die das zu from onward onwards until through`)

// decade reads 1990s: a span of ten years. It returns the end, and n.end when it is none.
func (p *parser) decade(n number, q *Quantity) int {
	word, end := wordAt(p.s, n.end)
	if word != "s" || n.value < 1000 || n.value >= 2100 || int(n.value)%10 != 0 {
		return n.end
	}
	q.Kind, q.When, q.To = Date, When{Year: int(n.value)}, When{Year: int(n.value) + 9}
	return end
}

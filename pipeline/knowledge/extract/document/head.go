package document

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// Limits for the head of a text, in bytes.
const (
	maxHead     = 8 << 10
	maxHeadLine = 120 // longer lines are paragraphs, unless they are fields
	maxKey      = 40
	// a field with a longer value and a line directly below is a paragraph that begins with "Key:"
	maxUnwrapped = 60
)

// fieldName matches the name of an e-mail header field (RFC 5322).
var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// HeadLines reads the fields at the head of a plain-text or Markdown document, before its first paragraph: "Key: value"
// lines, with or without Markdown emphasis, and lines with a date.
func HeadLines(document string) (s Metadata) {
	var key, value string
	var days headDates
	var opening []string
	headings, blank, underHeading := 0, false, false
	lines := strings.Split(text.Start(document, maxHead), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if key != "" && line != "" && (line[0] == ' ' || line[0] == '\t') { // a folded field
			value += " " + strings.TrimSpace(line)
			continue
		}
		nextKey, nextValue := "", ""
		if headings < maxHeadings { // the text begins below the second heading
			nextKey, nextValue = fieldOf(line)
		}
		if wrapped := len(value) > maxUnwrapped && line != "" && nextKey == ""; !wrapped {
			s.Field(key, value)
		}
		// a table row describes its own subject and not the document
		if key, value = nextKey, nextValue; key != "" || strings.HasPrefix(line, "|") {
			continue
		}
		plain := strings.Trim(line, "#*_> \t")
		heading := strings.HasPrefix(line, "#")
		if heading {
			headings++
		}
		setApart := strings.HasPrefix(line, "*") || strings.HasPrefix(line, "_")
		if bold, ok := strings.CutPrefix(line, "**"); ok && underHeading && isTitle(plain) && strings.HasSuffix(bold, "**") {
			s.below = plain
		}
		underHeading = heading && headings == 1 || underHeading && line == ""
		if issuer, day := imprint(plain); day != "" && !heading {
			if strings.TrimSpace(strings.Join(lines[:i], "")) != "" { // the first line is the title
				s.Publisher = cmp.Or(s.Publisher, issuer)
			}
			days.set(0, day)
			blank, underHeading = true, false
			continue
		}
		prose := !heading && (len(line) > maxHeadLine || endsSentence(plain))
		alone := !blank || isBlank(lines, i-1) && isBlank(lines, i+1)
		switch named := days.take(plain, headLine{heading, setApart, prose, alone}); {
		case headings > maxHeadings, prose && !named && !setApart:
			s.close(key, value, days, opening)
			return s
		}
		known := len(s.Authors)
		if s.byline(plain, setApart); len(s.Authors) > known {
			s.below = ""
		}
		if blank = blank || line == ""; !blank && !heading {
			opening = append(opening, plain)
		}
	}
	s.close(key, value, days, opening)
	return s
}

// maxHeadings is the maximum number of headings in the head of a document: the author and the title.
const maxHeadings = 2

// close records the last field and the results collected from the head.
func (s *Metadata) close(key, value string, days headDates, opening []string) {
	s.Field(key, value)
	s.Date = cmp.Or(s.Date, cmp.Or(days[:]...))
	if len(opening) > 1 && len(opening) <= maxLetterhead {
		opening = slices.DeleteFunc(opening, func(line string) bool { return len(datesIn(line)) > 0 })
		if head := strings.Join(opening, ", "); !strings.ContainsFunc(head, unicode.IsDigit) { // no address
			s.letterhead = head
		}
	}
	s.settle()
}

// maxLetterhead is the maximum number of lines in a letterhead.
const maxLetterhead = 4

// headDates holds the dates found at the head of a document, most reliable first: a line that is a date; a date after a
// label or between middle dots; the only date of a line that is set apart; a date after a comma in a heading.
type headDates [4]string

// label matches a value after a colon, as in "Stand: 28.05.2026".
var label = regexp.MustCompile(`(?:^|[.;] +)[^.:;]{1,30}: *([^:;]+?)(?:[.;] |[.;]?$)`)

// headLine describes the form of a line at the head of a document.
type headLine struct {
	heading  bool
	setApart bool // it begins with emphasis
	prose    bool // it is long or ends like a sentence
	alone    bool // it is not inside a paragraph, except the first one
}

func isBlank(lines []string, i int) bool {
	return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i]) == ""
}

func (d *headDates) set(rank int, day string) bool {
	if day != "" && len(day) > len("2006") && d[rank] == "" {
		d[rank] = day
	}
	return day != ""
}

// take records the date of a line. named reports whether the line states it in a form that prose does not use.
func (d *headDates) take(line string, is headLine) (named bool) {
	if day, bare := dateLine(line); !is.prose && day != "" && (bare || !is.heading) {
		return d.set(0, day)
	}
	day, at := onlyDate(line)
	if is.heading {
		return strings.Contains(line[:at[0]], ",") && d.set(3, day)
	}
	short := day != "" && at[1] == len(line) && len(strings.Fields(line[:at[0]])) <= maxPlace
	if short && is.alone && !is.prose {
		return d.set(0, day)
	}
	before := strings.TrimSpace(line[:at[0]])
	if at[1] == len(line) && strings.HasSuffix(before, ":") && len(strings.Fields(before)) <= maxPlace {
		return d.set(1, day)
	}
	for part := range strings.SplitSeq(line, " · ") {
		if day, bare := dateLine(part); bare && !is.prose && part != line {
			return d.set(1, day)
		}
	}
	for _, m := range label.FindAllStringSubmatch(line, -1) {
		if day := ParseDate(m[1]); day != "" {
			return d.set(1, day)
		}
	}
	return is.setApart && d.set(2, day)
}

// by matches the words before the names of authors.
var by = regexp.MustCompile(`^(?i:by|von|par|por|di|da)\s+`)

// fullName matches a personal name of at least two words, which may be initials.
var fullName = regexp.MustCompile(
	`^(?:\p{Lu}\.[ -]?)*(?:\p{Lu}[\p{L}'’-]*\.?)(?: (?:\p{Lu}\.|\p{Lu}[\p{L}'’-]+|van|von|de|der|den|del|di|da|la|le))+$`)

// byline records the authors that a line at the head names: after "by", or as a list of names that is set apart.
func (s *Metadata) byline(line string, setApart bool) {
	if len(s.Authors) > 0 || len(line) > maxUnwrapped*4 {
		return
	}
	said, marked := line, by.MatchString(line)
	if marked {
		said = by.ReplaceAllString(line, "")
	} else if bold, _, ok := strings.Cut(line, "*"); ok && setApart { // the names, then where they work
		said = bold
	}
	if !marked && !setApart {
		return
	}
	var names []string
	for name := range strings.FieldsFuncSeq(strings.NewReplacer(" and ", ",", " und ", ",", " et ", ",", " & ", ",",
		" y ", ",").Replace(said), func(r rune) bool { return r == ',' || r == ';' || r == '、' }) {
		name = strings.Trim(name, " .*_")
		if !fullName.MatchString(name) {
			return
		}
		names = append(names, name)
	}
	if marked || len(names) > 1 {
		for _, name := range names {
			s.AddAuthor(name)
		}
	}
}

// fieldOf returns the key and the value of a field line. The key is empty if the line is not a field.
func fieldOf(line string) (key, value string) {
	line = strings.TrimLeft(line, ":*_-+•|> \t")
	i := strings.IndexAny(line[:min(len(line), maxKey)], ":：|")
	if i <= 0 {
		return "", ""
	}
	_, width := utf8.DecodeRuneInString(line[i:])
	key, value = strings.Trim(line[:i], "*_ \t"), strings.Trim(line[i+width:], "*_| \t")
	if fields[strings.ToLower(key)] == "" && (line[i] != ':' || !fieldName.MatchString(key)) {
		return "", ""
	}
	return key, value
}

// sentenceEnds are the characters that end a sentence.
const sentenceEnds = ".!?。！？…"

func endsSentence(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, `"'”’」)*_`))
	return strings.ContainsRune(sentenceEnds, last)
}

// maxOpening is the maximum length of a first line that is a title, in runes.
const maxOpening = 100

// isTitle reports whether the first line of a text, if it stands alone, can be its title: it is short and not a
// sentence, salutation, field or date.
func isTitle(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	if utf8.RuneCountInString(line) > maxOpening || endsSentence(line) || strings.ContainsRune(",;:，；：", last) {
		return false
	}
	key, _ := fieldOf(line)
	_, date := dateLine(line)
	return key == "" && !date && strings.ContainsFunc(line, unicode.IsLetter)
}

// Limits of an imprint, in bytes and in words.
const (
	maxImprint = 200
	maxIssuer  = 15
)

// parting matches what separates the parts of an imprint.
var parting = regexp.MustCompile(`(?:[.;)] |。|；| [·|–—-] )\s*`)

// imprint returns the institution and the date of a line that has nothing else: "Lindenmark Hospital, Facilities
// Department (420 beds). 12 January 2026.", "Voss & Ahr Engineers. Final report, 3 September 2025." The day is empty
// for other lines: at most three words belong to the date, and the institution looks like a name.
func imprint(line string) (issuer, day string) {
	line = strings.TrimRight(strings.NewReplacer("*", "", "_", " ").Replace(line), " .。")
	day, at := onlyDate(line)
	if day == "" || len(line) > maxImprint || len(day) == len("2006") {
		return "", ""
	}
	before, after := line[:at[0]], strings.Trim(line[at[1]:], " .。)·|–—,-")
	if before == "" {
		before, after = after+". ", ""
	}
	parts := parting.FindAllStringIndex(before, -1)
	if after != "" || len(parts) == 0 {
		return "", ""
	}
	last := parts[len(parts)-1]
	kind := strings.Fields(before[last[1]:])
	if len(kind) > maxPlace || len(kind) > 1 && !strings.HasSuffix(before, ", ") {
		return "", ""
	}
	issuer = strings.TrimSpace(before[:parts[0][0]])
	if before[parts[0][0]] == ')' {
		issuer += ")"
	}
	if !isName(issuer) {
		return "", ""
	}
	if len(parts) == 1 && len(kind) == 0 && len(strings.Fields(issuer)) < 3 && issuer[0] < utf8.RuneSelf {
		issuer = "" // perhaps the kind of the document
	}
	return issuer, day
}

var bracketed = regexp.MustCompile(`\([^()]*\)`)

// isName reports whether a part of a line looks like the name of an institution: its first word and most of its longer
// words are capitalized, where the script has capitals.
func isName(part string) bool {
	words := strings.Fields(bracketed.ReplaceAllString(part, ""))
	if len(words) == 0 || len(words) > maxIssuer {
		return false
	}
	capital, long := 0, 0
	for i, word := range words {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'“„«(`))
		is := unicode.IsLetter(first) && !unicode.IsLower(first)
		if i == 0 && !is {
			return false
		}
		if utf8.RuneCountInString(word) > 3 {
			long++
			if is {
				capital++
			}
		}
	}
	return capital*2 > long || long == 0 && len(words) < 4
}

package citation

import (
	"iter"
	"regexp"
	"strings"
)

// spelled is what entities spell of markers and addresses, and the links and quotations of vendors' programs:
// &#91;1&#93;, https&#58;//example.org, [oai_citation:0‡example.org](https://example.org), <cite
// index="1-2">text</cite>.
var spelled = form{starts: []string{"&#", "&l", "http", "[oai_citation:", "<cite index="}, limit: 6000,
	pattern: regexp.MustCompile(`^(?i:(?:&#0{0,4}91;|&#x0{0,4}5b;|&lbrack;|&lsqb;)(\^?[0-9][0-9,; –-]{0,40})` +
		`(?:&#0{0,4}93;|&#x0{0,4}5d;|&rbrack;|&rsqb;)` +
		`|(https?)(?::|&#0{0,4}58;|&#x0{0,4}3a;|&colon;)(?:(?:/|&#0{0,4}47;|&#x0{0,4}2f;|&sol;)){2}` +
		`|\[oai_citation:[0-9]{1,4}‡[^\[\]\n]{0,200}\]\(([^()\s<>]{1,1000})\)` +
		`|<cite index=["']?[0-9,: -]{1,60}["']?>([^<>]{0,1000})</cite>)`)}

// plainForms rewrites these spellings in the usual form. Code is not changed.
func plainForms(text string) string {
	if !strings.Contains(text, "&") && !strings.Contains(text, "oai_citation") && !strings.Contains(text, "index=") {
		return text
	}
	var changes []change
	for m := range spelled.in(text) {
		c := change{start: m[0], end: m[1]}
		switch {
		case m[2] >= 0:
			c.with = "[" + text[m[2]:m[3]] + "]"
		case m[4] >= 0:
			c.with = text[m[4]:m[5]] + "://"
		case m[6] >= 0:
			c.with = "<" + text[m[6]:m[7]] + ">"
		default:
			c.with = text[m[8]:m[9]]
		}
		changes = append(changes, c)
	}
	return outsideCode(text, changes)
}

const (
	turning   = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" // characters that turn the order of what follows
	widthless = "\u00ad\u200b\u2060\ufeff"                               // characters that show nothing
)

var (
	withoutHidden = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u2060", "", "\ufeff", "")
	turningRune   = regexp.MustCompile("[" + turning + "]")
	hiddenWord    = regexp.MustCompile("[^ \t\n]*[" + widthless + "][^ \t\n]*")
)

// unhide removes characters that disguise text: bidirectional controls, and zero-width characters within addresses.
// Code is not changed.
func unhide(text string) string {
	text = replaceOutsideCode(text, turning, turningRune, func(string) string { return "" })
	return replaceOutsideCode(text, widthless, hiddenWord, func(word string) string {
		if shown := withoutHidden.Replace(word); hasAddress(shown) {
			return shown
		}
		return word
	})
}

// replaceOutsideCode replaces the matches of a pattern, each of which has one of these characters.
func replaceOutsideCode(text, chars string, pattern *regexp.Regexp, with func(string) string) string {
	if !strings.ContainsAny(text, chars) {
		return text
	}
	var changes []change
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		changes = append(changes, change{m[0], m[1], with(text[m[0]:m[1]])})
	}
	return outsideCode(text, changes)
}

// change replaces a part of a text.
type change struct {
	start, end int
	with       string
}

// outsideCode applies sorted changes, except those that overlap code.
func outsideCode(text string, changes []change) string {
	if len(changes) == 0 {
		return text
	}
	code := codeSpans(text)
	var b strings.Builder
	pos := 0
	for _, c := range changes {
		if code.at(c.start); len(code) > 0 && code[0].start < c.end {
			continue
		}
		b.WriteString(text[pos:c.start])
		b.WriteString(c.with)
		pos = c.end
	}
	return b.String() + text[pos:]
}

// form is a pattern that is tried only at possible starts, because trying it at each byte would be slow.
type form struct {
	starts  []string          // of all that it matches, whatever their case
	ends    map[string]string // by start: what follows in each match, if that is rare
	limit   int               // maximum length of a match in bytes
	pattern *regexp.Regexp    // anchored at its beginning
}

// in yields the matches in a text as FindAllStringSubmatchIndex returns them.
func (f form) in(text string) iter.Seq[[]int] {
	var first [256]bool
	for _, s := range f.starts {
		first[s[0]], first[strings.ToUpper(s)[0]] = true, true
	}
	return func(yield func([]int) bool) {
		for i := 0; i < len(text); i++ {
			if !first[text[i]] || !f.begins(text[i:]) {
				continue
			}
			m := f.pattern.FindStringSubmatchIndex(text[i:min(len(text), i+f.limit)])
			if m == nil {
				continue
			}
			for n := range m {
				if m[n] >= 0 {
					m[n] += i
				}
			}
			if !yield(m) {
				return
			}
			i = m[1] - 1
		}
	}
}

func (f form) begins(text string) bool {
	for _, s := range f.starts {
		if foldPrefix(text, s) {
			return strings.Contains(text[:min(len(text), f.limit)], f.ends[s])
		}
	}
	return false
}

package markup

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// closeGap tidies up around a marker or address that was removed before next, and returns where to go on.
func (o *output) closeGap(next int) int {
	before := o.space
	o.dropSpace(next)
	// the next one takes its place
	if m := joinsMarker.FindStringSubmatchIndex(o.from[next:min(len(o.from), next+20)]); m != nil {
		o.space = before
		return next + m[2]
	}
	if close, size := utf8.DecodeRuneInString(o.from[next:]); close == ')' || close == '）' {
		out := o.out.Bytes()
		if m := announced.FindIndex(out[max(0, len(out)-24):]); m != nil {
			o.out.Truncate(len(out) - (m[1] - m[0]))
			o.space = ""
			next += size
			o.dropSpace(next)
		}
	}
	for _, pair := range enclosing {
		if strings.HasPrefix(o.from[next:], pair[1]) && o.opens(pair) {
			o.out.Truncate(o.out.Len() - len(pair[0]))
			trimmed := bytes.TrimRight(o.out.Bytes(), " ")
			o.space = strings.Repeat(" ", o.out.Len()-len(trimmed))
			o.out.Truncate(len(trimmed))
			next += len(pair[1])
			o.dropSpace(next)
		}
	}
	if emphasisEnd.MatchString(o.from[next:min(len(o.from), next+4)]) {
		o.space = ""
	}
	next = o.punctuation(next)
	line := o.out.Bytes()[max(0, o.out.Len()-42):] // a bullet is short
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if len(line) > 40 || len(bytes.TrimLeft(line, " \t")) > 0 && !bullet.Match(line) {
		return next
	}
	rest := strings.TrimLeft(o.from[next:], " \t")
	switch {
	case strings.HasPrefix(rest, "\n"): // nothing is left of the line
		o.out.Truncate(o.out.Len() - len(line))
		o.space = ""
		next = len(o.from) - len(rest) + 1
		if EndsBlank(o.out.Bytes()) && strings.HasPrefix(o.from[next:], "\n") {
			next++ // one blank line between paragraphs is enough
		}
		return next
	case len(line) == 0:
		return len(o.from) - len(rest)
	}
	return next
}

// joinsMarker is what stands between two markers of a row.
var joinsMarker = regexp.MustCompile(`^(?:[ ]?[,;&/、，；]|[ ](?:and|or|und|et|y)\b|[ ]?[和及与])[ ]?(\[\^?[0-9])`)

// announced is a bracket that announced what has gone: "(see", "(Source:".
var announced = regexp.MustCompile(`(?i)\s?[(（]\s*(?:` + strings.Join(leads, "|") + `)\.?\s*[:：]?\s*$`)

// opening is a bracket with nothing else in it, or only what announces an address.
var opening = regexp.MustCompile(`(?i)[(（]\s*(?:(?:` + strings.Join(leads, "|") + `)\.?\s*[:：]?\s*)?$`)

// enclosing is what may stand around markers, and says nothing without them.
var enclosing = [][2]string{{"<sup>", "</sup>"}, {"**", "**"}, {"__", "__"}, {"*", "*"}, {"_", "_"}, {"^", "^"},
	{"(", ")"}, {"[", "]"}, {"（", "）"}}

// opens reports whether the text so far ends with the opening part of a pair, which no other one closes in its line.
func (o *output) opens(pair [2]string) bool {
	out := o.out.Bytes()
	if !bytes.HasSuffix(out, []byte(pair[0])) {
		return false
	}
	if pair[0] != pair[1] {
		return true
	}
	line := out[max(0, len(out)-400):]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return bytes.Count(line, []byte(pair[0]))%2 == 1
}

// punctuation takes out what joined the removed to its neighbours: the comma after another comma, the "and" of a row of
// markers that ends there.
func (o *output) punctuation(next int) int {
	out := o.out.Bytes()
	if len(out) == 0 {
		return next
	}
	after, size := utf8.DecodeRuneInString(o.from[next:])
	last, _ := utf8.DecodeLastRune(out)
	switch {
	case last == ';' && entityEnd.Match(out[max(0, len(out)-12):]): // no punctuation
	case strings.ContainsRune(".,;。，；、،؛", after) && strings.ContainsRune(".,;:!?。，；：！？、،؛", last):
		if strings.ContainsRune(",;，；、،؛", last) && strings.ContainsRune(".。", after) { // the stronger one stays
			_, n := utf8.DecodeLastRune(out)
			o.out.Truncate(len(out) - n)
			return next
		}
		return next + size
	case strings.ContainsRune(".\n),;:。，；：", after) || next == len(o.from):
		tail := out[max(0, len(out)-12):]
		if m := rowEnd.FindIndex(tail); m != nil {
			o.out.Truncate(len(out) - len(tail) + m[0] + 1)
		}
	}
	return next
}

// entityEnd is the end of a character's name: &nbsp;
var entityEnd = regexp.MustCompile(`&#?[a-zA-Z0-9]{2,8};$`)

// emphasisEnd is the end of emphasised text.
var emphasisEnd = regexp.MustCompile(`^(?:\*{1,3}|_{1,3}|~~|==)(?:[^\w*]|$)`)

// rowEnd is a row of markers whose last one has gone.
var rowEnd = regexp.MustCompile(`\](?:,|;| and|, and| or|, or| und| &| to| through)$`)

// bullet is the beginning of a list item with nothing behind it.
var bullet = regexp.MustCompile(`^[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]*$`)

// dropSpace removes the white space before what is removed, unless two words would grow together.
func (o *output) dropSpace(next int) {
	if o.space == "" {
		return
	}
	o.space = ""
	if r, _ := utf8.DecodeRuneInString(o.from[next:]); next < len(o.from) && o.out.Len() > 0 &&
		!strings.ContainsRune(" \t\n\u00a0\u202f\u3000.,;:!?)]}\"”’»…。，；：！？）】،؛؟۔।", r) {
		o.space = " "
	}
}

// EndsBlank reports whether a text is empty or ends with a blank line.
func EndsBlank(out []byte) bool { return len(out) == 0 || bytes.HasSuffix(out, []byte("\n\n")) }

package citation

import (
	"regexp"
	"strings"
)

// entryStyle is the form of an entry's label. All entries of a list have the same style.
type entryStyle int

const (
	bracketStyle entryStyle = iota + 1 // [1] 【1】 [^1]:
	orderedStyle                       // 1. 1) (1)
	tableStyle                         // | 1 |
	bulletStyle                        // - https://...
	rowStyle                           // | https://... |
	plainStyle                         // https://...
)

// entryPrefix is the text before an entry's content.
type entryPrefix struct {
	style  entryStyle
	number int
	id     string
	anchor bool
	indent string
	raw    string
	length int
}

// anchorBefore is an anchor before a label.
const anchorBefore = `((?:<a (?:id|name)=["'][^"'<>]{0,100}["']>[ \t]*</a>[ \t]*)?)`

var (
	bracketEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|#{3,6}[ \t]+|<(?:li|p|div|dt|dd)(?:[ ][^<>]{0,60})?>[ \t]*)?)` +
		anchorBefore + `(?:\*\*|__)?(?:` +
		`\[\^?#?([0-9]{1,4}|[٠-٩۰-۹०-९]{1,4})\]|【([0-9]{1,4})(?:†[^】]{0,80})?】|［([0-9]{1,4})］|\\\[([0-9]{1,4})\\\]` +
		`|\[\[([0-9]{1,4})\](?:\(#[^)\s]{0,100}\))?\]|<sup>\[?([0-9]{1,4})\]?</sup>` +
		`|\[(?i:source|reference|ref|citation|quelle)[ .:#]{0,2}([0-9]{1,4})\]` +
		`|(?i:source|reference|quelle|来源)[ ]?([0-9]{1,4})(?:[:：])` +
		`|([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})|\[((?i:CIT|PLAN)[-0-9]{2,20})\]` +
		`)(?:\*\*|__)?[.:：]?[ \t]*`)
	orderedEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|#{3,6}[ \t]+)?)` + anchorBefore + `(?:\*\*|__)?(?:` +
		`([0-9]{1,4})(?:[.):](?:\*\*|__)?[ \t]+|、[ \t]*|．[ \t]*)|\(([0-9]{1,4})\)[ \t]+|（([0-9]{1,4})）[ \t]*)`)
	tableEntry  = regexp.MustCompile(`^[ \t]{0,3}\|[ \t]*(?:\[\^?([0-9]{1,4})\](?:[ \t]*\||[ \t]+)|([0-9]{1,4})\.?[ \t]*\|)`)
	bulletEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|<li(?:[ ][^<>]{0,60})?>[ \t]*))`)
	rowEntry    = regexp.MustCompile(`^[ \t]{0,3}\|[ \t]*`)
)

// labelWord is the word of labels such as "Source 1:".
var labelWord = regexp.MustCompile(`^(?i:source|reference|quelle) ?[0-9]{1,4}:`)

// entryStart recognizes the start of an entry with a label.
func entryStart(line string) (entryPrefix, bool) {
	first := strings.TrimLeft(line[:min(len(line), 40)], " \t>-+*•_#")
	if first == "" || first[0] < 0x80 && !isDigit(first[0]) && strings.IndexByte(`[(\<|`, first[0]) < 0 &&
		!labelWord.MatchString(first) {
		return entryPrefix{}, false // nearly every line of a report
	}
	for i, pattern := range []*regexp.Regexp{bracketEntry, orderedEntry, tableEntry} {
		style := entryStyle(i + 1)
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		p := entryPrefix{style: style, number: noNumber, raw: m[0], length: len(m[0])}
		labels := m[1:]
		if style != tableStyle {
			p.indent, p.anchor, labels = m[1], m[2] != "", m[3:]
			for _, mark := range []string{"**", "__"} { // emphasis that goes on behind the label
				if label := m[0][len(m[1]):]; strings.HasPrefix(label, mark) && strings.Count(label, mark) == 1 {
					p.indent += mark
				}
			}
		}
		for _, label := range labels {
			label = superscripts.Replace(label)
			if id, ok := ParseID(label); ok {
				p.id = id.String()
			} else if n, length := scanNumber(label); length > 0 && length == len(label) {
				p.number = n
			}
		}
		if p.number >= 0 || p.id != "" {
			return p, true
		}
	}
	return entryPrefix{}, false
}

package extract

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	shortcode  = regexp.MustCompile(`\{\{[<%][^{}]*[>%]\}\}`)
	autolink   = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>`)
	inlineTag  = regexp.MustCompile(`^</?[A-Za-z][A-Za-z0-9-]*(\s[^<>]*)?/?>`)
	escapables = "\\`*_{}[]()#+-.!|<>~$\"'&:;,/=?@^%"
)

// maxInline bounds the paragraphs whose markup is looked at, in bytes. No one writes longer ones.
const maxInline = 64 << 10

// piece is a run of text, or a mark whose meaning is not known yet.
type piece struct {
	text  string
	mark  byte // one of * _ ~ [ ! (the last for "![") or 0
	open  bool // an emphasis mark may open here
	close bool // or close
}

// inline takes the markup from a run of Markdown text and returns one clean line.
func (m *markdown) inline(raw string) string {
	if strings.Contains(raw, "{{") {
		raw = shortcode.ReplaceAllString(raw, "")
	}
	if !strings.ContainsAny(raw, "\\`*_~[]<&$") || len(raw) > maxInline {
		return clean(raw)
	}
	var pieces []piece
	var brackets []int // indexes of the [ that are open
	noTag := false     // no ">" is left: do not look for one again
	unclosed := map[int]bool{}
	start := 0
	for i := 0; i < len(raw); {
		n := 0 // bytes of what begins here; 0 = an ordinary character
		var p piece
		switch c := raw[i]; c {
		case '\\':
			if i+1 < len(raw) && strings.IndexByte(escapables, raw[i+1]) >= 0 {
				n, p.text = 2, raw[i+1:i+2]
			} else if i+1 < len(raw) && raw[i+1] == '\n' {
				n, p.text = 2, "\n"
			}
		case '`':
			n, p.text = codeSpan(raw[i:], unclosed)
		case '$':
			n = mathSpan(raw[i:])
			p.text = raw[i : i+n]
		case '&':
			if end := strings.IndexByte(raw[i:min(len(raw), i+40)], ';'); end > 0 {
				if text := html.UnescapeString(raw[i : i+end+1]); text != raw[i:i+end+1] {
					n, p.text = end+1, text
				}
			}
		case '<':
			if !noTag {
				if noTag = strings.IndexByte(raw[i:], '>') < 0; !noTag {
					n, p.text = angle(raw[i:])
				}
			}
		case '*', '_', '~':
			n = len(raw[i:]) - len(strings.TrimLeft(raw[i:], raw[i:i+1]))
			p = emphasis(raw, i, n)
		case '!':
			if i+1 < len(raw) && raw[i+1] == '[' {
				n, p = 2, piece{text: "![", mark: '!'}
			}
		case '[':
			n, p = 1, piece{text: "[", mark: '['}
		case ']':
			if len(brackets) > 0 {
				if i > start {
					pieces = append(pieces, piece{text: raw[start:i]})
					start = i
				}
				open := brackets[len(brackets)-1]
				brackets = brackets[:len(brackets)-1]
				var kept []piece
				if n, kept = m.link(raw[i:], pieces[open:]); n > 0 {
					pieces = append(pieces[:open], kept...)
					i += n
					start = i
					continue
				}
			}
		}
		if n == 0 {
			i++
			continue
		}
		if i > start {
			pieces = append(pieces, piece{text: raw[start:i]})
		}
		if p.mark == '[' || p.mark == '!' {
			brackets = append(brackets, len(pieces))
		}
		pieces = append(pieces, p)
		i += n
		start = i
	}
	if start < len(raw) {
		pieces = append(pieces, piece{text: raw[start:]})
	}
	return clean(join(pieces))
}

// link reads what follows a "]". It returns the bytes that belong to the link and the pieces that remain of it:
// none for an image or a footnote's mark. 0 bytes: this is no link.
func (m *markdown) link(rest string, inside []piece) (int, []piece) {
	image := inside[0].mark == '!'
	label := inside[1:]
	keep := label
	if image {
		keep = nil
	}
	if n := linkTarget(rest[1:]); n > 0 {
		return 1 + n, keep
	}
	if strings.HasPrefix(rest, "][") {
		if end := strings.IndexByte(rest[2:min(len(rest), 1002)], ']'); end >= 0 {
			ref := strings.ToLower(rest[2 : 2+end])
			if ref == "" || m.refs[ref] {
				return 2 + end + 1, keep
			}
		}
	}
	if len(label) == 1 && strings.HasPrefix(label[0].text, "^") && !image {
		return 1, nil
	}
	if len(m.refs) > 0 && len(label) <= 16 {
		if m.refs[strings.ToLower(join(append([]piece(nil), label...)))] {
			return 1, keep
		}
	}
	return 0, nil
}

// linkTarget returns the length of "(url "title")" at the start of s, 0 if there is none.
func linkTarget(s string) int {
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	depth := 0
	for i := 0; i < len(s) && i < 4096; i++ {
		switch s[i] {
		case '\\':
			i++
		case '<':
			if end := strings.IndexAny(s[i:min(len(s), i+2048)], ">\n"); end > 0 && s[i+end] == '>' {
				i += end
			}
		case '"':
			if end := strings.IndexByte(s[i+1:min(len(s), i+2048)], '"'); end >= 0 {
				i += 1 + end
			}
		case '(':
			if depth++; depth > 32 {
				return 0
			}
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// codeSpan returns the length and the words of a code span at the start of s; without an end the marks are text.
// unclosed remembers the lengths of marks for which no end is left, so that none is looked for twice.
func codeSpan(s string, unclosed map[int]bool) (int, string) {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	fence := s[:n]
	for i := n; !unclosed[n]; {
		at := strings.Index(s[i:], fence)
		if at < 0 {
			unclosed[n] = true
			break
		}
		end := i + at + n
		i = end + len(s[end:]) - len(strings.TrimLeft(s[end:], "`"))
		if i == end {
			return end, s[n : end-n]
		}
	}
	return n, fence
}

// mathSpan returns the length of $...$ or $$...$$ at the start of s, 0 when the dollar is a dollar.
func mathSpan(s string) int {
	mark := "$"
	if strings.HasPrefix(s, "$$") {
		mark = "$$"
	}
	inner := s[len(mark):min(len(s), 2048)]
	end := strings.Index(inner, mark)
	if end <= 0 {
		return 0
	}
	after := len(mark) + end + len(mark)
	if mark == "$" {
		spaced := inner[0] == ' ' || inner[end-1] == ' '
		price := after < len(s) && s[after] >= '0' && s[after] <= '9'
		if spaced || price {
			return 0
		}
	}
	return after
}

// angle reads an autolink or a tag at the start of s: a link leaves its address, a break a space, a tag nothing.
func angle(s string) (int, string) {
	head := s[:min(len(s), 2048)]
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(head, "-->"); end > 0 {
			return end + 3, ""
		}
		return 0, ""
	}
	if link := autolink.FindStringSubmatch(head); link != nil {
		return len(link[0]), link[1]
	}
	tag := inlineTag.FindString(head)
	if strings.HasPrefix(strings.ToLower(tag), "<br") {
		return len(tag), "\n"
	}
	return len(tag), ""
}

// emphasis decides what a run of marks can do by the characters around it (CommonMark, "flanking").
func emphasis(raw string, at, n int) piece {
	before, _ := utf8.DecodeLastRuneInString(raw[:at])
	after, _ := utf8.DecodeRuneInString(raw[at+n:])
	if at == 0 {
		before = ' '
	}
	if at+n == len(raw) {
		after = ' '
	}
	space := func(r rune) bool { return unicode.IsSpace(r) }
	punct := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	left := !space(after) && (!punct(after) || space(before) || punct(before))
	right := !space(before) && (!punct(before) || space(after) || punct(after))
	p := piece{text: raw[at : at+n], mark: raw[at], open: left, close: right}
	if p.mark == '_' { // not within a word
		p.open = left && (!right || punct(before))
		p.close = right && (!left || punct(after))
	}
	if p.mark == '~' && n != 2 {
		p.mark = 0
	}
	return p
}

// join pairs the emphasis marks, drops those that have a partner and returns the rest as one text.
func join(pieces []piece) string {
	open := map[byte][]int{}
	for i, p := range pieces {
		if p.mark != '*' && p.mark != '_' && p.mark != '~' {
			continue
		}
		if p.close {
			for len(pieces[i].text) > 0 && len(open[p.mark]) > 0 {
				last := open[p.mark][len(open[p.mark])-1]
				n := min(len(pieces[last].text), len(pieces[i].text))
				pieces[last].text = pieces[last].text[n:]
				pieces[i].text = pieces[i].text[n:]
				if pieces[last].text == "" {
					open[p.mark] = open[p.mark][:len(open[p.mark])-1]
				}
			}
		}
		if p.open && len(pieces[i].text) > 0 {
			open[p.mark] = append(open[p.mark], i)
		}
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

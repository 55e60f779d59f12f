package citation

import (
	"slices"
	"strings"
)

// span is a range of bytes.
type span struct{ start, end int }

// Code returns the byte ranges of Markdown that are code, in order: fenced blocks with their fences, indented blocks,
// inline code. Citations are never looked for in there.
func Code(markdown string) [][2]int {
	var ranges [][2]int
	for _, s := range codeSpans(markdown) {
		ranges = append(ranges, [2]int{s.start, s.end})
	}
	return ranges
}

// Within reports whether a place lies in one of these ranges, which are in order and do not overlap.
func Within(ranges [][2]int, at int) bool {
	i, found := slices.BinarySearchFunc(ranges, at, func(r [2]int, at int) int { return r[0] - at })
	return found || i > 0 && at < ranges[i-1][1]
}

// CloseCode returns Markdown whose last fenced block is closed, so that it cannot swallow what is put after it.
func CloseCode(markdown string) string {
	spans := codeSpans(markdown)
	if len(spans) == 0 || spans[len(spans)-1].end < len(markdown) {
		return markdown
	}
	last := markdown[spans[len(spans)-1].start:]
	first, rest, more := strings.Cut(last, "\n")
	indent := len(first) - len(strings.TrimLeft(first, " \t>"))
	fence := fenceRun(first[indent:])
	if fence == "" {
		return markdown
	}
	if more {
		lines := strings.Split(strings.TrimRight(rest, "\n"), "\n")
		end := strings.TrimLeft(strings.TrimRight(lines[len(lines)-1], " \t\r"), " \t>")
		if run := fenceRun(end); run == end && len(run) >= len(fence) && run[0] == fence[0] {
			return markdown
		}
	}
	return strings.TrimRight(markdown, "\n") + "\n" + fence + "\n"
}

// codeSpans returns the parts of Markdown that are code, in order and without overlap: fenced blocks (with their
// fences), indented blocks and inline code. An inline span does not reach beyond its paragraph, heading or list item;
// a fence that is never closed reaches to the end. Source: CommonMark 0.31, sections 4.1 to 4.5 and 6.1.
func codeSpans(md string) []span {
	var spans []span
	paragraph := -1 // start of the text not yet searched for inline code
	flush := func(end int) {
		if paragraph >= 0 {
			spans = appendInline(spans, md, paragraph, end)
			paragraph = -1
		}
	}
	fence, fenceStart := "", 0
	afterBlank, inList, indented := true, false, false
	for start := 0; start < len(md); {
		end := len(md)
		if nl := strings.IndexByte(md[start:], '\n'); nl >= 0 {
			end = start + nl + 1
		}
		line := strings.TrimRight(md[start:end], "\r\n")
		body := strings.TrimLeft(line, " \t>")
		switch {
		case fence != "":
			if run := fenceRun(body); run != "" && run[0] == fence[0] && len(run) >= len(fence) &&
				strings.TrimSpace(body[len(run):]) == "" {
				spans = append(spans, span{fenceStart, end})
				fence = ""
			}
		case strings.TrimSpace(line) == "":
			flush(start)
			afterBlank = true
		case fenceRun(body) != "":
			flush(start)
			fence, fenceStart = fenceRun(body), start
			afterBlank, indented = false, false
		case isIndented(line) && (afterBlank || indented) && !inList:
			flush(start)
			spans = append(spans, span{start, end})
			indented, afterBlank = true, false
		default:
			heading := isATXHeading(line)
			if heading || isListItem(body) {
				flush(start)
			}
			if paragraph < 0 {
				paragraph = start
			}
			if heading || isUnderline(line) {
				flush(end)
			}
			if afterBlank || isListItem(body) {
				inList = isListItem(body) || inList && isIndented(line)
			}
			afterBlank, indented = false, false
		}
		start = end
	}
	if fence != "" {
		spans = append(spans, span{fenceStart, len(md)})
	}
	flush(len(md))
	return spans
}

// fenceRun returns the run of three or more ` or ~ that opens or closes a fenced block, else "".
func fenceRun(body string) string {
	n := 0
	for n < len(body) && (body[0] == '`' || body[0] == '~') && body[n] == body[0] {
		n++
	}
	if n < 3 || body[0] == '`' && strings.Contains(body[n:], "`") { // ```x``` on one line is inline code
		return ""
	}
	return body[:n]
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// isATXHeading reports whether a line is a heading that begins with 1 to 6 #, also one in a block quote.
func isATXHeading(line string) bool {
	body := strings.TrimLeft(line, " >")
	n := len(body) - len(strings.TrimLeft(body, "#"))
	return n >= 1 && n <= 6 && !isIndented(line) && (n == len(body) || body[n] == ' ' || body[n] == '\t')
}

// isUnderline reports whether a line ends a paragraph: as the underline of a heading or as a rule.
func isUnderline(line string) bool {
	body := strings.TrimSpace(strings.TrimLeft(line, " >"))
	if body == "" || strings.IndexByte("=-*_", body[0]) < 0 || isIndented(line) {
		return false
	}
	run := strings.Trim(body, body[:1])
	rule := strings.Trim(body, body[:1]+" \t") == "" && strings.Count(body, body[:1]) >= 3 && body[0] != '='
	return rule || run == "" && (body[0] == '=' || body[0] == '-')
}

func isListItem(body string) bool {
	if len(body) > 1 && strings.IndexByte("-*+", body[0]) >= 0 && (body[1] == ' ' || body[1] == '\t') {
		return true
	}
	_, digits := scanNumber(body)
	return digits > 0 && digits+1 < len(body) && (body[digits] == '.' || body[digits] == ')') && body[digits+1] == ' '
}

// appendInline appends the inline code of the paragraph md[start:end].
func appendInline(spans []span, md string, start, end int) []span {
	var last map[int]int // place of the last run of a length: none is looked for that does not come
	for i := start; i < end; {
		if md[i] == '\\' {
			i += 2
			continue
		}
		n := backticks(md, i, end)
		if n == 0 {
			i++
			continue
		}
		if last == nil {
			last = map[int]int{}
			for j := i; j < end; {
				run := backticks(md, j, end)
				last[run] = j
				j += max(run, 1)
			}
		}
		closing := i + n
		if last[n] < closing {
			i += n
			continue
		}
		for run := 0; run != n; closing += max(run, 1) {
			run = backticks(md, closing, end)
		}
		spans = append(spans, span{i, closing})
		i = closing
	}
	return spans
}

// backticks returns the length of the run of backticks at md[i], bounded by end.
func backticks(md string, i, end int) int {
	n := 0
	for i+n < end && md[i+n] == '`' {
		n++
	}
	return n
}

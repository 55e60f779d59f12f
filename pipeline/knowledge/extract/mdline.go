package extract

import (
	"regexp"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// indentation returns the columns of white space before the text of a line, tabs to multiples of 4, and that text.
func indentation(line string) (columns int, rest string) {
	for i := 0; i < len(line); i++ {
		next := pastBlank(columns, line[i])
		if next == columns {
			return columns, strings.TrimRight(line[i:], " \t")
		}
		columns = next
	}
	return columns, ""
}

// outdent takes up to n columns of white space from the start of a line.
func outdent(line string, n int) string {
	columns := 0
	for i := 0; i < len(line); i++ {
		next := pastBlank(columns, line[i])
		if columns >= n || next == columns {
			return line[i:]
		}
		columns = next
	}
	return ""
}

// pastBlank returns the column behind a blank that stands in a column, and that column for every other sign.
func pastBlank(column int, sign byte) int {
	switch sign {
	case ' ':
		return column + 1
	case '\t':
		return column + 4 - column%4
	}
	return column
}

// atx returns level and text of "## text ##", and 0 for anything else.
func atx(rest string) (level int, text string) {
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	apart := level == len(rest) || rest[level] == ' ' || rest[level] == '\t'
	if level == 0 || level > 6 || !apart {
		return 0, ""
	}
	text = strings.TrimSpace(rest[level:])
	if trimmed := strings.TrimRight(text, "#"); trimmed == "" || strings.HasSuffix(trimmed, " ") {
		text = strings.TrimSpace(trimmed)
	}
	return level, text
}

// setext returns the level of the heading that a line of = or - underlines, and 0 for anything else.
func setext(rest string) int {
	switch {
	case strings.Trim(rest, "=") == "":
		return 1
	case strings.Trim(rest, "-") == "":
		return 2
	}
	return 0
}

// fenceOf returns the fence that a line opens and the words after it.
func fenceOf(rest string) (fence, info string) {
	if len(rest) < 3 || rest[0] != '`' && rest[0] != '~' {
		return "", ""
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	info = strings.TrimSpace(rest[n:])
	if n < 3 || rest[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return rest[:n], info
}

// thematic reports whether a line is a rule: three or more of * - _ and nothing else.
func thematic(rest string) bool {
	if rest == "" || strings.IndexByte("*-_", rest[0]) < 0 {
		return false
	}
	return strings.Count(rest, rest[:1]) >= 3 && strings.Trim(rest, rest[:1]+" \t") == ""
}

var (
	definitionLine = regexp.MustCompile(`^\[[^\]^][^\]]*\]:\s*\S`)
	// Lines that speak to a site generator: Hugo shortcodes, Jekyll tags, Docusaurus fences and imports.
	directiveLine = regexp.MustCompile(`^(\{\{[<%].*[>%]\}\}|\{%.*%\}|:::.*|import\s.+\sfrom\s+['"].*|\{:.*\}|\[\[?_?TOC_?\]\]?)$`)
	delimiterLine = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	blockStart    = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)(\s|/?>|$)`)
)

// definition reports whether a line defines the target of a reference link.
func definition(rest string) bool {
	return rest[0] == '[' && definitionLine.MatchString(clip(rest, 1000))
}

func directive(rest string) bool {
	return len(rest) < 1000 && strings.IndexByte("{:[i", rest[0]) >= 0 && directiveLine.MatchString(rest)
}

func delimiterRow(line string) bool {
	return strings.Contains(line, "-") && strings.ContainsAny(line, "|:") && len(line) < 4096 &&
		delimiterLine.MatchString(line)
}

// references collects the labels of all link definitions.
func references(lines []string) map[string]bool {
	refs := map[string]bool{}
	for _, line := range lines {
		if _, rest := indentation(line); rest != "" && definition(rest) {
			refs[strings.ToLower(rest[1:strings.IndexByte(rest, ']')])] = true
		}
	}
	return refs
}

// splitRow cuts a table row into its cells; an escaped bar or one in code does not cut.
func splitRow(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var cells []string
	start, code := 0, false
	lastTick := strings.LastIndexByte(row, '`')
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '`':
			code = !code
		case '|':
			if !code || lastTick < i {
				cells = append(cells, strings.ReplaceAll(row[start:i], `\|`, "|"))
				start = i + 1
			}
		}
	}
	return append(cells, strings.ReplaceAll(row[start:], `\|`, "|"))
}

// blockTag returns the name of the block element with which a line begins, in lower case, else "".
func blockTag(rest string) string {
	if strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "<?") || strings.HasPrefix(rest, "<!") {
		return "!"
	}
	match := blockStart.FindStringSubmatch(rest)
	if match == nil {
		return ""
	}
	tag := strings.ToLower(match[1])
	if block[tag] || unseen[tag] {
		return tag
	}
	return ""
}

// html reads a block of HTML and returns its lines, 0 when there is none.
func (m *markdown) html(lines []string, rest string) int {
	if rest[0] != '<' {
		return 0
	}
	tag := blockTag(rest)
	if tag == "" {
		return 0
	}
	end := ""
	switch tag {
	case "!":
		if end = ">"; strings.HasPrefix(rest, "<!--") {
			end = "-->"
		}
	case "script", "pre", "style", "textarea":
		end = "</" + tag
	}
	n := 0
	for n < len(lines) {
		line := lines[n]
		if end == "" && strings.TrimSpace(line) == "" {
			break
		}
		n++
		if end != "" && strings.Contains(strings.ToLower(line), end) {
			break
		}
	}
	m.marker = ""
	htmlFragment(m.b, strings.Join(lines[:n], "\n"))
	return n
}

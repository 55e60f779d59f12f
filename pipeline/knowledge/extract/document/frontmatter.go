package document

import (
	"strings"
)

// FrontMatter splits off the block between --- (YAML) or +++ (TOML) lines at the start of a Markdown file. Only a few
// fields are needed, so their lines are read without a YAML or TOML decoder: no aliases are expanded and no tags run.
func FrontMatter(text string) (s Metadata, rest string) {
	mark, equals := "---", ":"
	switch {
	case strings.HasPrefix(text, "% "):
		return titleBlock(text)
	case strings.HasPrefix(text, "+++\n"):
		mark, equals = "+++", "="
	case !strings.HasPrefix(text, "---\n"):
		return s, text
	}
	body, rest, ok := strings.Cut(text[len(mark)+1:], "\n"+mark)
	if !ok || rest != "" && rest[0] != '\n' {
		return s, text
	}
	key, found := "", false
	block, lines := false, "" // a value in the lines below its key
	for line := range strings.Lines(body) {
		item := strings.TrimSpace(line)
		if inner := line[0] == ' ' || line[0] == '-'; inner && key != "" { // a line below its key
			if name := listed(item); name != "" {
				s.Field(key, name)
			} else if block && len(lines) < maxValue {
				lines += " " + item
			}
			continue
		}
		s.Field(key, unquoted(lines))
		block, lines = false, ""
		if mark == "+++" && item != "" && item[0] == '[' { // a TOML table; the rest does not describe the document
			break
		}
		name, value, ok := strings.Cut(line, equals)
		if !ok {
			continue
		}
		found, key = true, strings.TrimSpace(name)
		if value = strings.TrimSpace(value); strings.Trim(value, "|>-+") == "" {
			block = value != ""
			continue
		}
		if list, ok := strings.CutPrefix(value, "["); ok {
			for name := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				s.Field(key, unquoted(name))
			}
			continue
		}
		s.Field(key, unquoted(value))
	}
	if !found { // text between two horizontal rules, not front matter
		return Metadata{}, text
	}
	s.Field(key, unquoted(lines))
	s.settle()
	return s, rest
}

// titleBlock reads the header lines of Pandoc's Markdown: "% title", "% authors", "% date".
func titleBlock(text string) (s Metadata, rest string) {
	for _, key := range []string{"title", "author", "date"} {
		line, after, _ := strings.Cut(text, "\n")
		value, ok := strings.CutPrefix(line, "%")
		if !ok {
			break
		}
		s.Field(key, value)
		text = after
	}
	return s, text
}

// listed returns the list entry in a line below a key: "- Ane Holt" or "- name: Ane Holt".
func listed(line string) string {
	entry, dash := strings.CutPrefix(line, "- ")
	if name, value, ok := strings.Cut(entry, ": "); ok {
		if strings.TrimSpace(name) != "name" {
			return ""
		}
		return unquoted(value)
	}
	if !dash {
		return ""
	}
	return unquoted(entry)
}

func unquoted(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }

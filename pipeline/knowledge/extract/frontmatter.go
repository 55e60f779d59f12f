package extract

import (
	"encoding/json"
	"strings"
)

// frontMatter splits the block between --- (YAML) or +++ (TOML) lines from the start of a Markdown file. Only some
// fields are of interest, so their lines are read and nothing is decoded: no aliases to expand, no tags to run.
func frontMatter(text string) (s stated, rest string) {
	mark, equals := "---", ":"
	if strings.HasPrefix(text, "+++\n") {
		mark, equals = "+++", "="
	} else if !strings.HasPrefix(text, "---\n") {
		return s, text
	}
	body, rest, ok := strings.Cut(text[len(mark)+1:], "\n"+mark)
	if !ok || rest != "" && rest[0] != '\n' {
		return s, text
	}
	key, found := "", false
	for line := range strings.Lines(body) {
		item := strings.TrimSpace(line)
		if inner := line[0] == ' ' || line[0] == '-'; inner && key != "" { // below its key
			if name := listed(item); name != "" {
				s.field(key, name)
			}
			continue
		}
		if mark == "+++" && item != "" && item[0] == '[' { // a table: what follows is not of the document
			break
		}
		name, value, ok := strings.Cut(line, equals)
		if !ok {
			continue
		}
		found, key = true, strings.TrimSpace(name)
		if value = strings.TrimSpace(value); strings.Trim(value, "|>-+") == "" { // its value is in the lines below
			continue
		}
		if list, ok := strings.CutPrefix(value, "["); ok {
			for name := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				s.field(key, unquoted(name))
			}
			continue
		}
		s.field(key, unquoted(value))
	}
	if !found { // a rule, text, a rule
		return stated{}, text
	}
	s.settle()
	return s, rest
}

// listed returns the entry that a line below a key gives: "- Ane Holt", "- name: Ane Holt".
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

// commentTitle returns the title in the JSON object with which some generators begin a page, inside its first comment:
// <!--{"Title": "The Harbour Guide"}-->. Empty: there is none.
func commentTitle(page string) string {
	comment, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(page, "\ufeff")), "<!--")
	if !ok {
		return ""
	}
	comment, _, ok = strings.Cut(comment, "-->")
	var f struct{ Title string }
	if !ok || json.Unmarshal([]byte(comment), &f) != nil {
		return ""
	}
	return clean(f.Title)
}

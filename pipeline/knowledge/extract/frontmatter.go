package extract

import (
	"encoding/json"
	"strings"
)

type front struct{ title, date string }

// frontMatter splits the block between --- (YAML) or +++ (TOML) lines from the start of a Markdown file. Only title
// and date are of interest, so their lines are read and nothing is decoded: no aliases to expand, no tags to run.
func frontMatter(text string) (front, string) {
	var f front
	mark, equals := "---", ":"
	if strings.HasPrefix(text, "+++\n") {
		mark, equals = "+++", "="
	} else if !strings.HasPrefix(text, "---\n") {
		return f, text
	}
	body, rest, ok := strings.Cut(text[len(mark)+1:], "\n"+mark)
	if !ok || rest != "" && rest[0] != '\n' {
		return f, text
	}
	found := false
	for line := range strings.Lines(body) {
		key, value, ok := strings.Cut(line, equals)
		if !ok {
			continue
		}
		found = true
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "title":
			f.title = value
		case "date", "publishdate", "published":
			if f.date == "" {
				f.date = date(value)
			}
		case "lastmod", "updated", "last_updated":
			if d := date(value); d != "" && f.date == "" {
				f.date = d
			}
		}
	}
	if !found { // a rule, text, a rule
		return front{}, text
	}
	return f, rest
}

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

// Package manual holds the manual of nightdesk: one Markdown file for each topic. `nightdesk help` prints them,
// `nightdesk serve` shows them as pages. To add a topic, add a file; its first line is "# Title: about".
package manual

import (
	"embed"
	"slices"
	"strings"

	"nightdesk/config"
)

//go:embed *.md
var files embed.FS

// settings is the name of the topic that ends with the list of all settings.
const settings = "settings"

// Topic is one topic of the manual.
type Topic struct {
	Name  string // as `nightdesk help` takes it: knowledge-bases
	Title string // Knowledge bases
	About string // your documents and web pages, indexed
	Text  string // Markdown, with the title
}

// Topics returns all topics, sorted by name.
func Topics() []Topic {
	entries, _ := files.ReadDir(".") // embedded files can always be read
	var topics []Topic
	for _, entry := range entries {
		text, _ := files.ReadFile(entry.Name())
		t := Topic{Name: strings.TrimSuffix(entry.Name(), ".md"), Text: string(text)}
		first, _, _ := strings.Cut(t.Text, "\n")
		t.Title, t.About, _ = strings.Cut(strings.TrimPrefix(first, "# "), ": ")
		if t.Name == settings {
			t.Text += "\n" + wrapItems(config.MarkdownList())
		}
		topics = append(topics, t)
	}
	return topics
}

// Find returns the topic with a name. Case does not count, and words may be separated by spaces.
func Find(name string) (Topic, bool) {
	name = strings.ToLower(strings.Join(strings.Fields(name), "-"))
	topics := Topics()
	i := slices.IndexFunc(topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return Topic{}, false
	}
	return topics[i], true
}

// textColumns is the width of the lines of the manual.
const textColumns = 80

// wrapItems breaks the items of a list, one per line, into lines of the width of the manual.
func wrapItems(list string) string {
	var out strings.Builder
	for item := range strings.Lines(list) {
		column := 0
		for i, word := range strings.Fields(item) {
			switch {
			case i > 0 && column+1+len(word) > textColumns:
				out.WriteString("\n  ")
				column = 2
			case i > 0:
				out.WriteString(" ")
				column++
			}
			out.WriteString(word)
			column += len(word)
		}
		out.WriteString("\n")
	}
	return out.String()
}

package web

import (
	"fmt"
	"net/http"
	"strings"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
)

// helpCommand is the command that prints a manual topic. Pages show it as a link to that topic.
const helpCommand = "nightdesk help"

// manualTopics returns the manual's table of contents.
func manualTopics() manual.Topic {
	var text strings.Builder
	text.WriteString("# Manual of nightdesk\n\n| topic | about |\n|---|---|\n")
	for _, t := range manual.Topics() {
		fmt.Fprintf(&text, "| `%s %s` | %s |\n", helpCommand, t.Name, t.About)
	}
	return manual.Topic{Title: "Manual of nightdesk", Text: text.String()}
}

// showManual renders a topic as a page, like a report.
func showManual(w http.ResponseWriter, topic manual.Topic) {
	links := map[string]string{helpCommand: "./"}
	for _, t := range manual.Topics() {
		links[helpCommand+" "+t.Name] = t.Name
	}
	text := topic.Text
	if topic.Name != "" {
		text += "\n---\n\nAll topics: `" + helpCommand + "`\n"
	}
	page, err := formats.HTML(formats.Report{Tree: report.Read(text), Title: topic.Title, Language: "en", Files: links})
	if err != nil {
		http.Error(w, fmt.Sprintf("show the manual: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page) // the client has disconnected
}

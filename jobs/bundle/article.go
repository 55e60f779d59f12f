package bundle

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Article returns a report as a self-contained text, without links within the page. Citations are numbers in brackets,
// one per document, which a list at the end resolves: "[3] Title. Address".
func Article(ctx context.Context, store storage.Store, runID string) (string, error) {
	r, err := Report(ctx, store, runID)
	if err != nil {
		return "", err
	}
	lines, err := sourcesJSONL.read(ctx, store, runID)
	if err != nil {
		return "", err
	}
	sources := map[string]topicqueue.Source{} // by citation id
	for _, line := range lines {
		for _, id := range line.Citations {
			sources[id] = line.Source
		}
	}
	return article(r, sources), nil
}

func article(r report.Report, sources map[string]topicqueue.Source) string {
	numbers := map[string]int{}
	var list strings.Builder
	body := r.Body(func(id string) string {
		s, known := sources[id]
		if !known { // of an earlier version, whose report has numbers
			return "[" + id + "]"
		}
		key := cmp.Or(address.Normalize(s.URL), s.Document, s.ID)
		if numbers[key] == 0 {
			numbers[key] = len(numbers) + 1
			fmt.Fprintf(&list, "[%d] %s\n", numbers[key], reference(s))
		}
		return fmt.Sprintf("[%d]", numbers[key])
	})
	if list.Len() == 0 {
		for _, ref := range r.References {
			for _, e := range ref.Entries {
				fmt.Fprintf(&list, "[%s] %s\n", e.Label, e.Text)
			}
		}
	}
	title := ""
	if r.Title != "" {
		title = "# " + report.Escape(r.Title) + "\n\n"
	}
	return strings.TrimSpace(title+body+"\n\n"+list.String()) + "\n"
}

// reference formats a source as its name and address.
func reference(s topicqueue.Source) string {
	name, address := text.Line(cmp.Or(s.Title, s.Document, s.URL)), cmp.Or(s.URL, s.Document)
	if address == "" || address == name {
		return name
	}
	return name + ". " + address
}

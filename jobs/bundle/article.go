package bundle

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/text"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Article returns a report as a self-contained text, without its head and its links within the page. Citations are
// numbers in brackets, one per document, which a list at the end resolves: "[3] Title. Address".
func Article(ctx context.Context, store storage.Store, runID string) (string, error) {
	report, err := store.Get(ctx, storage.ReportKey(runID))
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
	return article(string(report), sources), nil
}

func article(report string, sources map[string]topicqueue.Source) string {
	title, body, references := split(report)
	numbers, list := map[string]int{}, ""
	body = citationLink.ReplaceAllStringFunc(body, func(marker string) string {
		id := citationLink.FindStringSubmatch(marker)[1]
		s, known := sources[id]
		if !known { // already a number
			return "[" + id + "]"
		}
		key := cmp.Or(address.Normalize(s.URL), s.Document, s.ID)
		if numbers[key] == 0 {
			numbers[key] = len(numbers) + 1
			list += fmt.Sprintf("[%d] %s\n", numbers[key], reference(s))
		}
		return fmt.Sprintf("[%d]", numbers[key])
	})
	for _, n := range numbers { // two passages of one document
		for mark := fmt.Sprintf("[%d]", n); strings.Contains(body, mark+mark); {
			body = strings.ReplaceAll(body, mark+mark, mark)
		}
	}
	if heading, _, _ := strings.Cut(references, "\n"); list != "" {
		references = heading + "\n\n" + list
	}
	parts := []string{title, body, listAnchor.ReplaceAllString(references, "")}
	return strings.TrimSpace(strings.Join(parts, "\n\n")) + "\n"
}

// listAnchor matches the targets of links to references.
var listAnchor = regexp.MustCompile(`<a id="ref-[^"]*"></a> ?`)

// reference formats a source as its name and address.
func reference(s topicqueue.Source) string {
	name, address := text.Line(cmp.Or(s.Title, s.Document, s.URL)), cmp.Or(s.URL, s.Document)
	if address == "" || address == name {
		return name
	}
	return name + ". " + address
}

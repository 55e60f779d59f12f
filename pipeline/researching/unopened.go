package researching

import (
	"strings"

	"nightdesk/topicqueue"
)

// maxUnopened bounds the pages that one iteration suggests to open.
const maxUnopened = 5

// suggestPages tells of pages that the searches of an iteration have found and nobody has opened: of each search in
// turn, first those that had something to say.
func (w *work) suggestPages(calls []call, outcomes []outcome, traces []topicqueue.ToolTrace) {
	if _, ok := w.tools.Lookup(openPage); !ok {
		return
	}
	opened := issued{}
	for _, c := range calls {
		opened.add(c.tool, c.query)
	}
	var found [][]topicqueue.Source // by search: what had something to say, what else it has found
	for _, o := range outcomes {
		if o.tool == openPage {
			continue
		}
		var pages []topicqueue.Source
		for _, t := range traces {
			if t.ToolID == o.id {
				pages = append(pages, t.Source)
			}
		}
		if !o.answer.Failed {
			pages = append(pages, o.answer.Sources...)
		}
		found = append(found, pages)
	}
	var lines []string
	for _, s := range inTurn(found) {
		if !strings.HasPrefix(s.URL, "http") || len(s.URL) > 2*maxLine || w.issued.has(openPage, s.URL) ||
			opened.has(openPage, s.URL) {
			continue
		}
		opened.add(openPage, s.URL)
		if lines = append(lines, strings.TrimSpace(topicqueue.Clip(topicqueue.OneLine(s.Title), maxLine)+" "+
			s.URL)); len(lines) == maxUnopened {
			break
		}
	}
	for _, line := range lines {
		w.tell("found and not opened yet; open_page reads it whole: %s", line)
	}
}

// inTurn returns the first of each list, then the second of each, and so on.
func inTurn(lists [][]topicqueue.Source) []topicqueue.Source {
	var out []topicqueue.Source
	for n, more := 0, true; more; n++ {
		more = false
		for _, list := range lists {
			if n < len(list) {
				out, more = append(out, list[n]), true
			}
		}
	}
	return out
}

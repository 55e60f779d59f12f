package researching

import (
	"strings"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/topicqueue"
)

// maxUnopened is the maximum number of pages that one iteration suggests to open.
const maxUnopened = 5

// suggestPages adds feedback on pages that searches found and no block has opened. It takes them from each search in
// turn, those with claims first.
func (w *work) suggestPages(calls []recheck.Call, outcomes []outcome, traces []topicqueue.ToolTrace) {
	if _, ok := w.tools.Lookup(openPage); !ok {
		return
	}
	opened := issued{}
	for _, c := range calls {
		opened.add(c.Tool, c.Query)
	}
	var found [][]topicqueue.Source // by search: sources with claims, then other results
	for _, o := range outcomes {
		if o.Tool == openPage {
			continue
		}
		var pages []topicqueue.Source
		for _, t := range traces {
			if t.ToolID == o.ID {
				pages = append(pages, t.Source)
			}
		}
		if !o.Answer.Failed {
			pages = append(pages, o.Answer.Sources...)
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
		w.tell("found, but not opened yet; open_page reads the whole page: %s", line)
	}
}

// inTurn interleaves lists: the first of each list, then the second of each, and so on.
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

package recheck

import (
	"context"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// align finds the changes in a text.
func (v *Visit) align(ctx context.Context, l *look) error {
	switch l.state {
	case changed:
		l.diff, l.respelt = v.Span.Moved(l.then.Text, l.text)
		v.dropRestless(ctx, l)
	case gone:
		l.diff.Withdrawn = slices.DeleteFunc(text.Units(l.then.Text), func(u text.Unit) bool { return u.Form == text.Label })
	}
	l.diff.New = withoutHeads(l.text, l.diff.New)
	l.diff.Withdrawn = withoutHeads(l.then.Text, l.diff.Withdrawn)
	if l.excerpt {
		l.diff.Withdrawn = nil
	}
	if l.excerpt || l.then.Text == "" && l.cited { // the text around the claims is unknown
		l.diff.New = nil
	}
	if l.moved() { // otherwise all claims hold, and computing counterparts would be wasted
		l.places = counterparts(l.then.Text, l.text, slices.Concat(l.respelt, l.diff.Changed))
	}
	l.vanished = l.vanishing()
	return v.dropKnown(ctx, l)
}

// withoutHeads removes header rows of tables, which are reported with the other rows.
func withoutHeads(s string, units []text.Unit) []text.Unit {
	return slices.DeleteFunc(units, func(u text.Unit) bool {
		return u.Form == text.Row && recurring.Columns(s, u.Start) == strings.TrimSpace(s[u.Start:u.End])
	})
}

// dropRestless requests a changed page a second time. Content that differs again, such as a visitor count, is not news.
// If the request fails, all changes count as news.
func (v *Visit) dropRestless(ctx context.Context, l *look) {
	tool, ok := v.Tools.Lookup(tools.NameOpenPage)
	if !ok || l.call.Tool != tools.NameOpenPage || len(l.diff.Changed)+len(l.diff.New) == 0 {
		return
	}
	// the runner would return its cached answer
	again, err := tool.Call(ctx, tools.Call{ToolID: l.call.ID, Query: l.call.Query})
	if err != nil || again.Failed || len(again.Sources) == 0 {
		return
	}
	marks := marksOf(again.Sources[0].Text)
	l.diff.Changed = slices.DeleteFunc(l.diff.Changed, func(p text.Pair) bool {
		if !marks[p.New.Mark] {
			l.respelt = append(l.respelt, p)
		}
		return !marks[p.New.Mark]
	})
	l.diff.New = slices.DeleteFunc(l.diff.New, func(u text.Unit) bool { return !marks[u.Mark] })
}

// fewCopies is the maximum number of texts that share a sentence with a figure about one thing.
const fewCopies = 2

// ofMany reports whether a sentence is in so many texts that each must say it of its own subject, such as "The hearing
// is on 12 May 2026." A sentence without a figure is shared boilerplate.
func ofMany(sentence string, copies int) bool {
	return copies > fewCopies && len(quantity.Parse(sentence)) > 0
}

// dropKnown removes new units that the last run read in another place, or that its knowledge base had in another place,
// because pages are copied and files renamed.
func (v *Visit) dropKnown(ctx context.Context, l *look) error {
	if len(l.diff.New) > 0 && v.seen == nil {
		v.seen = map[uint64]int{}
		needed, wanted := v.Memory.Texts()
		for _, hash := range append(needed, wanted...) {
			if body, err := v.Runner.Pages.Page(ctx, v.Run.ID, hash); err == nil { // otherwise the text is unknown
				for mark := range marksOf(body) {
					v.seen[mark]++
				}
			}
		}
	}
	fresh := l.diff.New[:0]
	for _, u := range l.diff.New {
		copies := v.seen[u.Mark]
		if copies == 0 && v.Before != nil && l.call.Tool == recurring.ReadDocument {
			like, err := v.Before.Like(ctx, topicqueue.Clip(topicqueue.OneLine(l.text[u.Start:u.End]), maxClaim), MaxOpened)
			if err != nil {
				return v.failed(ctx, l.call.Query, err)
			}
			for _, s := range like {
				if marksOf(s.Text)[u.Mark] {
					copies++
				}
			}
		}
		if copies == 0 || ofMany(l.text[u.Start:u.End], copies) {
			fresh = append(fresh, u)
		}
	}
	l.diff.New = fresh
	return ctx.Err()
}

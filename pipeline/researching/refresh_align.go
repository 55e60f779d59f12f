package researching

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

// align finds what has moved in a text.
func (v *visit) align(ctx context.Context, l *look) error {
	switch l.state {
	case changed:
		l.diff, l.respelt = v.span.Moved(l.then.Text, l.text)
		v.dropRestless(ctx, l)
	case gone:
		l.diff.Withdrawn = slices.DeleteFunc(text.Units(l.then.Text), func(u text.Unit) bool { return u.Form == text.Label })
	}
	l.diff.New = withoutHeads(l.text, l.diff.New)
	l.diff.Withdrawn = withoutHeads(l.then.Text, l.diff.Withdrawn)
	if l.excerpt {
		l.diff.Withdrawn = nil
	}
	if l.excerpt || l.then.Text == "" && l.cited { // what stood beside the claims is not known
		l.diff.New = nil
	}
	if l.moved() { // else all claims stand, and counterparts would cut both texts for nothing
		l.places = counterparts(l.then.Text, l.text, slices.Concat(l.respelt, l.diff.Changed))
	}
	l.vanished = l.vanishing()
	return v.dropKnown(ctx, l)
}

// withoutHeads drops the rows that name the columns of tables: the others are told with them.
func withoutHeads(s string, units []text.Unit) []text.Unit {
	return slices.DeleteFunc(units, func(u text.Unit) bool {
		return u.Form == text.Row && recurring.Columns(s, u.Start) == strings.TrimSpace(s[u.Start:u.End])
	})
}

// dropRestless asks for a page that has changed once more: what is another one a moment later, such as the number of
// visitors, is no news. When that fails, all is taken for news.
func (v *visit) dropRestless(ctx context.Context, l *look) {
	tool, ok := v.tools.Lookup(openPage)
	if !ok || l.call.tool != openPage || len(l.diff.Changed)+len(l.diff.New) == 0 {
		return
	}
	// not by the runner, which knows the answer
	again, err := tool.Call(ctx, tools.Call{ToolID: l.call.id, Query: l.call.query})
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

// fewCopies is in how many texts a sentence with a figure stands that is about one thing.
const fewCopies = 2

// ofMany reports a sentence that so many texts have that each says it of its own subject: "The hearing is on 12 May
// 2026." One without a figure is an ornament that they share.
func ofMany(sentence string, copies int) bool {
	return copies > fewCopies && len(quantity.Parse(sentence)) > 0
}

// dropKnown drops new units that the last run has read elsewhere, or that its knowledge base had elsewhere: pages are
// copied and files renamed.
func (v *visit) dropKnown(ctx context.Context, l *look) error {
	if len(l.diff.New) > 0 && v.seen == nil {
		v.seen = map[uint64]int{}
		needed, wanted := v.memory.Texts()
		for _, hash := range append(needed, wanted...) {
			if body, err := v.Runner.Pages.Page(ctx, v.run.ID, hash); err == nil { // else it is not known
				for mark := range marksOf(body) {
					v.seen[mark]++
				}
			}
		}
	}
	fresh := l.diff.New[:0]
	for _, u := range l.diff.New {
		copies := v.seen[u.Mark]
		if copies == 0 && v.Before != nil && l.call.tool == recurring.ReadDocument {
			like, err := v.Before.Like(ctx, topicqueue.Clip(topicqueue.OneLine(l.text[u.Start:u.End]), maxClaim), maxOpened)
			if err != nil {
				return v.failed(ctx, l.call.query, err)
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

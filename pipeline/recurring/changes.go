package recurring

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Changes holds the changes since the last run of a topic. It is stored under "changes" in a run's metadata.
type Changes struct {
	Since     string      `json:"since"`  // date of the last run, YYYY-MM-DD, with the time if it was the same day
	RunID     string      `json:"run_id"` // id of the last run
	New       []Said      `json:"new"`
	Changed   []Change    `json:"changed"`
	Withdrawn []Withdrawn `json:"withdrawn"`
	Open      []Open      `json:"open"`      // gaps of both reports
	Unchecked int         `json:"unchecked"` // unavailable sources, whose statements are assumed to hold
}

// None reports whether nothing is new, changed or withdrawn.
func (c Changes) None() bool { return len(c.New)+len(c.Changed)+len(c.Withdrawn) == 0 }

// Said is a current or former statement of a source.
type Said struct {
	Statement string   `json:"statement"` // a sentence, row or item on one line; with Noted, the model's note of it
	Quote     string   `json:"quote"`     // verbatim
	Noted     bool     `json:"noted,omitempty"`
	Value     string   `json:"value,omitempty"`
	Citations []string `json:"citations"` // of this report; for former statements, they cite the old text
	BlockID   string   `json:"block_id"`
	Title     string   `json:"title"` // of the first source; with its key if another document here has the same title
	URL       string   `json:"url,omitempty"`
	Document  string   `json:"document,omitempty"`
	About     string   `json:"about,omitempty"` // kind, publisher and date of its source, if known

	source     string // source id; start and end are offsets in its text
	offset     int    // offset of that text in the document
	start, end int
	columns    string // header row, for a table row
}

// Change is a statement that replaced another one.
type Change struct {
	Kind string `json:"kind"`           // value, date or words
	What string `json:"what,omitempty"` // what the values of a row describe: "Cost (euros), 2023"
	Old  Said   `json:"old"`
	New  Said   `json:"new"`
}

// Withdrawn is a statement that no source makes any more.
type Withdrawn struct {
	Said
	Gone     bool `json:"gone"`               // the source itself is gone
	Computed bool `json:"computed,omitempty"` // output of a program whose input numbers are outdated
}

// Open is a part of the plan that a report does not cover sufficiently.
type Open struct {
	BlockID string `json:"block_id"`
	Title   string `json:"title"`
	Reason  string `json:"reason"`
}

// Compare collects the changes that the blocks of a run found since the run of m, each fact once. today: YYYY-MM-DD.
// Open is left empty for the report to fill in.
func Compare(m *Memory, today string, now []BlockEvidence) Changes {
	c := comparison{out: Changes{
		Since: m.Since(today), RunID: m.RunID, New: []Said{}, Changed: []Change{}, Withdrawn: []Withdrawn{}, Open: []Open{},
	}}
	unchecked := map[string]bool{}
	for _, b := range now {
		for _, t := range b.Traces {
			for _, claim := range t.Claims {
				c.claims = append(c.claims, c.said(claim))
			}
		}
	}
	for _, b := range now {
		old, known := m.Block(b.Block.ID, b.Block.Title)
		for _, t := range b.Traces {
			for _, claim := range t.Claims {
				if t.Since != "" {
					c.standing = append(c.standing, topicqueue.OneLine(claim.Quote))
				}
			}
			if t.Unchecked {
				unchecked[PageKey(t.Source)] = true
			}
			c.block, c.trace = b.Block.ID, t
			computed := t.Source.Kind == topicqueue.SourceCode
			for _, claim := range t.Withdrawn {
				if computed && slices.ContainsFunc(b.Traces, computedTonight) {
					continue // the sections present the new result
				}
				if claim.Now == nil {
					gone := t.Source.AsOf != nil && t.Source.AsOf.Gone
					c.lost = append(c.lost, Withdrawn{Said: c.said(claim), Gone: gone, Computed: computed})
				} else {
					c.change(c.said(claim), c.said(*claim.Now))
				}
			}
			c.fresh = append(c.fresh, c.added(t)...)
			if _, seen := m.Pages[PageKey(t.Source)]; (!known || old.Unfinished) && !seen && t.Since == "" {
				for _, claim := range t.Claims { // a new page, found by research that was missing before
					c.fresh = append(c.fresh, c.said(claim))
				}
			}
		}
	}
	c.out.Unchecked = len(unchecked)
	c.settle()
	c.tellApart()
	return c.out
}

// computedTonight reports whether a trace is from a program run in this run.
func computedTonight(t topicqueue.ToolTrace) bool {
	return t.Source.Kind == topicqueue.SourceCode && t.Since == "" && len(t.Claims) > 0
}

// comparison is the state of Compare.
type comparison struct {
	block string
	trace topicqueue.ToolTrace
	lost  []Withdrawn
	fresh []Said

	standing []string // quotes of claims that still hold
	claims   []Said   // claims of this run

	out Changes
}

func (c *comparison) said(claim topicqueue.Claim) Said {
	return Said{
		Statement: rowLine(cmp.Or(topicqueue.OneLine(claim.Text), topicqueue.OneLine(claim.Quote)), claim.Columns),
		Quote:     topicqueue.OneLine(claim.Quote),
		Citations: []string{cmp.Or(claim.CitationID, c.trace.CitationID)}, BlockID: c.block,
		Title: topicqueue.OneLine(c.trace.Source.Title), URL: c.trace.Source.URL, Document: c.trace.Source.Document,
		About: c.trace.Source.Label(), source: claim.SourceID, start: claim.Start, end: claim.End,
		offset: c.trace.Source.Offset, columns: claim.Columns,
	}
}

// added returns the new sentences of a trace. If a model noted claims from them, the statement is the note, because a
// sentence alone may not name its subject. Each note is used once.
func (c *comparison) added(t topicqueue.ToolTrace) (list []Said) {
	told := map[string]bool{} // claims already used
	for _, news := range t.Added {
		s := c.said(news)
		var notes []string
		over := false
		for _, claim := range t.Claims {
			if claim.SourceID != news.SourceID || claim.End <= news.Start || news.End <= claim.Start {
				continue
			}
			note := topicqueue.OneLine(claim.Text)
			if over = over || told[claim.ID]; !told[claim.ID] && note != topicqueue.OneLine(claim.Quote) {
				told[claim.ID] = true
				notes = append(notes, note)
			}
		}
		switch {
		case len(notes) > 0:
			s.Statement, s.Noted = strings.Join(notes, " "), true
		case over: // the previous note covers this sentence too
			list[len(list)-1].Quote += " " + s.Quote
			continue
		}
		list = append(list, s)
	}
	return list
}

// of identifies the document or page of the statement.
func (s Said) of() string { return cmp.Or(s.Document, s.URL, s.source) }

// follows reports whether a sentence directly follows another one in its paragraph. Table rows are kept separate.
func (s Said) follows(o Said) bool {
	if s.source == "" || s.source != o.source || strings.HasPrefix(s.Quote, "|") {
		return false
	}
	return s.start == o.end+1 && slices.Equal(s.Citations, o.Citations)
}

// join appends a following sentence.
func (s *Said) join(o Said) {
	s.Statement, s.Quote, s.end = s.Statement+" "+o.Statement, s.Quote+" "+o.Quote, o.end
}

// otherRow reports whether two rows are from different documents, where equal rows mean different things.
func (s Said) otherRow(o Said) bool {
	return strings.HasPrefix(s.Quote, "|") && cmp.Or(s.Document, s.URL) != cmp.Or(o.Document, o.URL)
}

// change records a change unless it is already recorded.
func (c *comparison) change(old, now Said) {
	what, kind, before, after := differingCells(old, now)
	if what == "" {
		kind, before, after = Differing(old.Quote, now.Quote)
	}
	old.Value, now.Value = before, after
	if kind == ChangedWords && c.restated(old, now) {
		return
	}
	now = c.noted(now)
	for i := range c.out.Changed {
		told := &c.out.Changed[i]
		if repeats(told.Old.Quote, old.Quote) && repeats(told.New.Quote, now.Quote) && !told.New.otherRow(now) {
			told.Old.cite(old)
			told.New.cite(now)
			return
		}
	}
	c.out.Changed = append(c.out.Changed, Change{Kind: kind, What: what, Old: old, New: now})
}

// noted replaces a sentence with the model's current notes of it, if any are not used yet. A sentence alone may not
// name its subject.
func (c *comparison) noted(s Said) Said {
	var notes []string
	for _, claim := range c.claims {
		on := claim.source == s.source && claim.start < s.end && s.start < claim.end
		told := func(ch Change) bool { return strings.Contains(ch.New.Statement, claim.Statement) }
		own := strings.HasPrefix(claim.Quote, "|") || repeats(claim.Statement, claim.Quote) // not a note of a model
		if on && !own && !slices.Contains(notes, claim.Statement) && !slices.ContainsFunc(c.out.Changed, told) {
			notes = append(notes, claim.Statement)
		}
	}
	if len(notes) > 0 {
		s.Statement, s.Noted = strings.Join(notes, " "), true
	}
	return s
}

// restated reports whether the model's note of the new words equals that of the old ones, so that only the wording
// changed.
func (c *comparison) restated(old, now Said) bool {
	return !repeats(old.Statement, old.Quote) && slices.ContainsFunc(c.claims, func(claim Said) bool {
		return repeats(claim.Statement, old.Statement) && strings.Contains(claim.Quote, now.Quote)
	})
}

// settle records the remaining changes. A sentence that one source lost and another one gained is a change or was
// moved.
func (c *comparison) settle() {
	lost, fresh := map[int]bool{}, map[int]bool{}
	for i, s := range c.lost {
		best, most := -1, 0.0
		for j, now := range c.fresh {
			if alike := text.Similarity(s.Quote, now.Quote); !fresh[j] && alike > most && Follows(s.Quote, now.Quote) {
				best, most = j, alike
			}
		}
		if best < 0 {
			continue
		}
		lost[i], fresh[best] = true, true
		if !sayTheSame(s.Quote, c.fresh[best].Quote) {
			c.change(s.Said, c.fresh[best])
		}
	}
	for i, s := range c.lost {
		same := func(o Withdrawn) bool { return o.as(s.Said) }
		if at := slices.IndexFunc(c.out.Withdrawn, same); at >= 0 {
			c.out.Withdrawn[at].cite(s.Said)
		} else if !lost[i] && !c.told(s.Said) {
			c.out.Withdrawn = append(c.out.Withdrawn, s)
		}
	}
	whole := c.out.Withdrawn[:0] // join sentences of a paragraph
	for _, s := range c.out.Withdrawn {
		if last := len(whole) - 1; last >= 0 && s.follows(whole[last].Said) {
			whole[last].join(s.Said)
		} else {
			whole = append(whole, s)
		}
	}
	c.out.Withdrawn = whole
	for j, s := range c.fresh {
		same := func(o Said) bool { return o.as(s) || o.of() == s.of() && strings.Contains(o.Quote, s.Quote) }
		if at := slices.IndexFunc(c.out.New, same); at >= 0 {
			c.out.New[at].cite(s)
		} else if !fresh[j] && !c.told(s) && !c.known(s.Quote) {
			c.out.New = append(c.out.New, s)
		}
	}
	c.out.New = byDocument(c.out.New)
}

// byDocument groups statements by document, in the document's order. Documents are in the order of their first
// statements.
func byDocument(list []Said) []Said {
	first := map[string]int{}
	for _, s := range list {
		if _, known := first[s.of()]; !known {
			first[s.of()] = len(first)
		}
	}
	slices.SortStableFunc(list, func(a, b Said) int {
		return cmp.Or(cmp.Compare(first[a.of()], first[b.of()]), cmp.Compare(a.offset+a.start, b.offset+b.start))
	})
	return list
}

// tellApart adds the document's key to titles that several documents share, such as "Figures" in a set of similar
// files.
func (c *comparison) tellApart() {
	var all []*Said
	for i := range c.out.New {
		all = append(all, &c.out.New[i])
	}
	for i := range c.out.Changed {
		all = append(all, &c.out.Changed[i].Old, &c.out.Changed[i].New)
	}
	for i := range c.out.Withdrawn {
		all = append(all, &c.out.Withdrawn[i].Said)
	}
	documents := map[string]map[string]bool{} // by title
	for _, s := range all {
		if documents[s.Title] == nil {
			documents[s.Title] = map[string]bool{}
		}
		documents[s.Title][cmp.Or(s.Document, s.URL)] = true
	}
	for _, s := range all {
		if key := cmp.Or(s.Document, s.URL); len(documents[s.Title]) > 1 && key != "" && s.Title != key {
			s.Title = strings.TrimPrefix(s.Title+", "+key, ", ")
		}
	}
}

// told reports whether a recorded change has the sentence or row on either side.
func (c *comparison) told(s Said) bool {
	return slices.ContainsFunc(c.out.Changed, func(ch Change) bool {
		return !ch.New.otherRow(s) && (repeats(ch.Old.Quote, s.Quote) || repeats(ch.New.Quote, s.Quote))
	})
}

// known reports whether a claim that still holds has the sentence's figures and much the same words.
func (c *comparison) known(quote string) bool {
	_, figures := parts(quote)
	return len(figures) > 0 && slices.ContainsFunc(c.standing, func(s string) bool {
		_, others := parts(s)
		return slices.EqualFunc(figures, others, equal) && Follows(s, quote)
	})
}

// as reports whether two statements are the same sentence. With a figure, their titles must also be equal, because "The
// hearing is on 12 May" may refer to two lawsuits.
func (s Said) as(o Said) bool {
	_, figures := parts(s.Quote)
	return repeats(s.Quote, o.Quote) && !s.otherRow(o) && (s.Title == o.Title || len(figures) == 0)
}

// repeats reports whether two texts have the same words.
func repeats(a, b string) bool { return slices.Equal(text.Words(a), text.Words(b)) }

// cite adds the citations of an equal statement.
func (s *Said) cite(other Said) {
	for _, id := range other.Citations {
		if !slices.Contains(s.Citations, id) {
			s.Citations = append(s.Citations, id)
		}
	}
}

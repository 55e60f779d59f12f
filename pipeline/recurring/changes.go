package recurring

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Changes is what has changed since the last run of a topic. In a run's metadata it stands under "changes".
type Changes struct {
	Since     string      `json:"since"`  // day of the last run, YYYY-MM-DD, with the time where it was the same day
	RunID     string      `json:"run_id"` // the last run
	New       []Said      `json:"new"`
	Changed   []Change    `json:"changed"`
	Withdrawn []Withdrawn `json:"withdrawn"`
	Open      []Open      `json:"open"`      // what neither report could say
	Unchecked int         `json:"unchecked"` // sources that could not be asked again: what they said is taken to hold
}

// None reports that nothing is new, changed or withdrawn.
func (c Changes) None() bool { return len(c.New)+len(c.Changed)+len(c.Withdrawn) == 0 }

// Said is what a source says, or said.
type Said struct {
	Statement string   `json:"statement"` // a sentence, row or item on one line; Noted: what a model has noted of it
	Quote     string   `json:"quote"`     // verbatim
	Noted     bool     `json:"noted,omitempty"`
	Value     string   `json:"value,omitempty"`
	Citations []string `json:"citations"` // of this report; those of what was said lead to the text of that day
	BlockID   string   `json:"block_id"`
	Title     string   `json:"title"` // of the first source; with its key where others of this title are told of
	URL       string   `json:"url,omitempty"`
	Document  string   `json:"document,omitempty"`
	About     string   `json:"about,omitempty"` // kind, publisher and date of its source, as far as they are known

	source     string // id; with start and end where it stands in its text
	offset     int    // at which that text begins in the document
	start, end int
	columns    string // of a row: the row that names its columns
}

// Change is a statement in whose place another one has come.
type Change struct {
	Kind string `json:"kind"`           // value, date or words
	What string `json:"what,omitempty"` // of a row: what its values are of, "Cost (euros), 2023"
	Old  Said   `json:"old"`
	New  Said   `json:"new"`
}

// Withdrawn is a statement that no source makes any more.
type Withdrawn struct {
	Said
	Gone     bool `json:"gone"`               // its source is; else the source no longer says it
	Computed bool `json:"computed,omitempty"` // a program printed it, from numbers that no source states any more
}

// Open is a part of the plan that a report says nothing or too little about.
type Open struct {
	BlockID string `json:"block_id"`
	Title   string `json:"title"`
	Reason  string `json:"reason"`
}

// Compare puts together what the blocks of a run of today, YYYY-MM-DD, have found to have changed since the run that m
// is of, each fact once. Open is left empty: it is for the report to say what it could not.
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
					continue // the sections say what came of it
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
				for _, claim := range t.Claims { // research that was missing has found a page that was not there
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

// computedTonight reports a trace of a program that was run tonight.
func computedTonight(t topicqueue.ToolTrace) bool {
	return t.Source.Kind == topicqueue.SourceCode && t.Since == "" && len(t.Claims) > 0
}

// comparison is the work of Compare.
type comparison struct {
	block string
	trace topicqueue.ToolTrace
	lost  []Withdrawn
	fresh []Said

	standing []string // quotes of claims that stand
	claims   []Said   // of tonight

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

// added returns the sentences of a trace that are news. Where a model has noted something of them, they say that, each
// note once: a sentence alone may not name its subject.
func (c *comparison) added(t topicqueue.ToolTrace) (list []Said) {
	told := map[string]bool{} // claims
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
		case over: // the note before is of this, too
			list[len(list)-1].Quote += " " + s.Quote
			continue
		}
		list = append(list, s)
	}
	return list
}

// of is the document or page that says it.
func (s Said) of() string { return cmp.Or(s.Document, s.URL, s.source) }

// follows reports that a sentence stands right behind another one, in its paragraph. Rows are told one by one.
func (s Said) follows(o Said) bool {
	if s.source == "" || s.source != o.source || strings.HasPrefix(s.Quote, "|") {
		return false
	}
	return s.start == o.end+1 && slices.Equal(s.Citations, o.Citations)
}

// join adds a sentence that follows.
func (s *Said) join(o Said) {
	s.Statement, s.Quote, s.end = s.Statement+" "+o.Statement, s.Quote+" "+o.Quote, o.end
}

// otherRow reports rows of different documents: equal ones say different things.
func (s Said) otherRow(o Said) bool {
	return strings.HasPrefix(s.Quote, "|") && cmp.Or(s.Document, s.URL) != cmp.Or(o.Document, o.URL)
}

// change tells of a change unless it has been told.
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

// noted returns a sentence in the words in which a model has noted it tonight, where it has and they are not told yet:
// a sentence alone may not name its subject.
func (c *comparison) noted(s Said) Said {
	var notes []string
	for _, claim := range c.claims {
		on := claim.source == s.source && claim.start < s.end && s.start < claim.end
		told := func(ch Change) bool { return strings.Contains(ch.New.Statement, claim.Statement) }
		own := strings.HasPrefix(claim.Quote, "|") || repeats(claim.Statement, claim.Quote) // no note of a model
		if on && !own && !slices.Contains(notes, claim.Statement) && !slices.ContainsFunc(c.out.Changed, told) {
			notes = append(notes, claim.Statement)
		}
	}
	if len(notes) > 0 {
		s.Statement, s.Noted = strings.Join(notes, " "), true
	}
	return s
}

// restated reports that a model has noted of the new words what it had noted of the old ones: they say it in other
// words.
func (c *comparison) restated(old, now Said) bool {
	return !repeats(old.Statement, old.Quote) && slices.ContainsFunc(c.claims, func(claim Said) bool {
		return repeats(claim.Statement, old.Statement) && strings.Contains(claim.Quote, now.Quote)
	})
}

// settle tells of what is left: what one source has lost and another one has won, has changed or moved.
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
	whole := c.out.Withdrawn[:0] // paragraphs
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

// byDocument puts together what each document says, in its order, the documents in the order of their first sentences.
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

// tellApart names the documents whose title several have that are told of: each file of a form begins with "Figures".
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

// told reports that a change has the sentence or row on one of its sides.
func (c *comparison) told(s Said) bool {
	return slices.ContainsFunc(c.out.Changed, func(ch Change) bool {
		return !ch.New.otherRow(s) && (repeats(ch.Old.Quote, s.Quote) || repeats(ch.New.Quote, s.Quote))
	})
}

// known reports a sentence with figures that a claim which stands has, too, in much the same words.
func (c *comparison) known(quote string) bool {
	_, figures := parts(quote)
	return len(figures) > 0 && slices.ContainsFunc(c.standing, func(s string) bool {
		_, others := parts(s)
		return slices.EqualFunc(figures, others, equal) && Follows(s, quote)
	})
}

// as reports the same sentence, with a figure only of documents of one title: "The hearing is on 12 May" may be of
// two lawsuits.
func (s Said) as(o Said) bool {
	_, figures := parts(s.Quote)
	return repeats(s.Quote, o.Quote) && !s.otherRow(o) && (s.Title == o.Title || len(figures) == 0)
}

// repeats reports the same words.
func repeats(a, b string) bool { return slices.Equal(text.Words(a), text.Words(b)) }

// cite adds the citations of another one that says the same.
func (s *Said) cite(other Said) {
	for _, id := range other.Citations {
		if !slices.Contains(s.Citations, id) {
			s.Citations = append(s.Citations, id)
		}
	}
}

package recurring

import (
	"cmp"

	"nightdesk/pipeline/evidence"
	"nightdesk/topicqueue"
)

// Changes is what has changed since the last run of a topic. In a run's metadata it stands under "changes".
type Changes struct {
	Since     string      `json:"since"`  // day of the last run, YYYY-MM-DD
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
	Statement string   `json:"statement"`
	Quote     string   `json:"quote"` // verbatim
	Value     string   `json:"value,omitempty"`
	Citations []string `json:"citations"` // of this report; those of what was said lead to the text of that day
	BlockID   string   `json:"block_id"`
	Title     string   `json:"title"` // of the first source
	URL       string   `json:"url,omitempty"`
	Document  string   `json:"document,omitempty"`
}

// Change is a statement in whose place another one has come.
type Change struct {
	Kind string `json:"kind"` // value, date, name, words or negation
	Old  Said   `json:"old"`
	New  Said   `json:"new"`
}

// Withdrawn is a statement that no source makes any more.
type Withdrawn struct {
	Said
	Gone bool `json:"gone"` // its source is; else the source no longer says it
}

// Open is a part of the plan that a report says nothing or too little about.
type Open struct {
	BlockID string `json:"block_id"`
	Title   string `json:"title"`
	Reason  string `json:"reason"`
}

// Compare says what has changed since the run that m is of. now: all blocks of the run that went on from it. Open is left empty: it is
// for the report to say what it could not.
//
// A statement is new when it stands in a page or sentence that was not there. It has changed when its own source says something
// else of the same subject, or a new statement elsewhere does in the same words. It is withdrawn when it stands nowhere any more. What is said again in
// other words or in another place has not changed.
func Compare(m *Memory, now []BlockEvidence) Changes {
	c := comparison{changes: Changes{Since: m.Date, RunID: m.RunID, New: []Said{}, Changed: []Change{}, Withdrawn: []Withdrawn{}, Open: []Open{}}}
	unchecked := map[string]bool{}
	for _, b := range now {
		old, known := m.Block(b.Block.ID, b.Block.Title)
		for _, t := range b.Traces {
			if t.Unchecked {
				unchecked[PageKey(t.Source)] = true
			}
			for _, claim := range t.Withdrawn {
				claim.CitationID = t.CitationID
				c.add(&c.lost, b.Block.ID, claim, t)
			}
			_, seen := m.Pages[PageKey(t.Source)]
			for _, claim := range t.Claims {
				switch {
				case t.Since != "":
					c.add(&c.standing, b.Block.ID, claim, t)
				case seen && (!known || old.Unfinished): // research that was missing has found it where it was before
					c.add(&c.standing, b.Block.ID, claim, t)
				default:
					c.add(&c.fresh, b.Block.ID, claim, t)
				}
			}
		}
	}
	c.changes.Unchecked = len(unchecked)
	c.read()
	c.settle()
	return c.changes
}

// comparison is the work of Compare. lost, standing and fresh are indexes into claims.
type comparison struct {
	claims                []evidence.Claim
	blocks                []string // by claim
	gone                  []bool   // by claim
	lost, standing, fresh []int
	reading               evidence.Reading
	told                  []pair // changes
	changes               Changes
}

func (c *comparison) add(to *[]int, block string, claim topicqueue.Claim, t topicqueue.ToolTrace) {
	*to = append(*to, len(c.claims))
	c.claims = append(c.claims, evidence.Claim{Claim: claim, Source: t.Source})
	c.blocks = append(c.blocks, block)
	c.gone = append(c.gone, t.Source.AsOf != nil && t.Source.AsOf.Gone)
}

func (c *comparison) settle() {
	used := map[int]bool{} // fresh claims that are no news
	var withdrawn []int
	for _, i := range c.lost {
		if j := c.again(i); j >= 0 {
			used[j] = true
			continue
		}
		if j, turn := c.successor(i); j >= 0 {
			used[j] = true
			c.tell(pair{i, j, turn})
			continue
		}
		if c.claims[i].ID != "" && !c.goesOn(i) { // without an id, no report has made it
			withdrawn = append(withdrawn, i)
		}
	}
	for n, i := range withdrawn {
		if !c.repeated(i, withdrawn[:n]) {
			c.changes.Withdrawn = append(c.changes.Withdrawn, Withdrawn{c.said(i, "", withdrawn), c.gone[i]})
		}
	}
	var fresh []int
	for _, j := range c.fresh {
		if !used[j] && !c.within(j, used) && c.first(j, c.standing) < 0 && !c.retold(j, used) {
			fresh = append(fresh, j)
		}
	}
	for n, j := range fresh {
		if !c.repeated(j, fresh[:n]) {
			c.changes.New = append(c.changes.New, c.said(j, "", fresh))
		}
	}
}

// again returns a claim of tonight that says what a lost one said, -1 when there is none.
func (c *comparison) again(i int) int {
	if j := c.first(i, c.standing); j >= 0 {
		return j
	}
	return c.first(i, c.fresh)
}

// goesOn reports a lost claim that its page still makes, in a sentence that says more: what that adds is news.
func (c *comparison) goesOn(i int) bool {
	for _, j := range c.fresh {
		if PageKey(c.claims[i].Source) == PageKey(c.claims[j].Source) && c.reading.Within(2*i+1, 2*j+1) {
			return true
		}
	}
	return false
}

// retold reports a fresh claim that says what another one has been told of to say.
func (c *comparison) retold(j int, used map[int]bool) bool {
	for k := range used {
		if c.same(j, k) {
			return true
		}
	}
	return false
}

// read understands every claim twice: what it states, and what its source says. Models put the same in other words every night.
func (c *comparison) read() {
	twice := make([]evidence.Claim, 0, 2*len(c.claims))
	for _, claim := range c.claims {
		quoted := claim
		quoted.Text = ""
		twice = append(twice, claim, quoted)
	}
	c.reading = evidence.Read(twice)
}

func (c *comparison) same(i, j int) bool {
	return c.reading.Same(2*i+1, 2*j+1) || c.reading.Same(2*i, 2*j)
}

func (c *comparison) turned(i, j int, onePage bool) (evidence.Turn, float64) {
	for _, of := range []int{1, 0} {
		if t, ok := c.reading.Turned(2*i+of, 2*j+of, onePage); ok {
			return t, c.reading.Alike(2*i+of, 2*j+of)
		}
	}
	return evidence.Turn{}, 0
}

// first returns the first of the claims that says the same as claim i, -1 when none does.
func (c *comparison) first(i int, of []int) int {
	for _, j := range of {
		if c.same(i, j) {
			return j
		}
	}
	return -1
}

// pair is a lost claim and the fresh one that has come in its place.
type pair struct {
	old, now int
	turn     evidence.Turn
}

// successor returns the fresh claim that has come in the place of a lost one: of its own page the one that is most alike in its words, else one of
// elsewhere.
func (c *comparison) successor(i int) (best int, turn evidence.Turn) {
	best = -1
	most := 0.0
	for _, onePage := range []bool{true, false} {
		for _, j := range c.fresh {
			if onePage && PageKey(c.claims[i].Source) != PageKey(c.claims[j].Source) {
				continue
			}
			if t, alike := c.turned(i, j, onePage); alike > most {
				best, turn, most = j, t, alike
			}
		}
		if best >= 0 {
			break
		}
	}
	return best, turn
}

// within reports a fresh claim that stands in the same words of the same text as one that has been told of.
func (c *comparison) within(j int, used map[int]bool) bool {
	a := c.claims[j]
	for k := range used {
		b := c.claims[k]
		if a.Source.Hash == b.Source.Hash && a.Start < b.End && b.Start < a.End {
			return true
		}
	}
	return false
}

// repeated reports that one of the claims before says the same.
func (c *comparison) repeated(i int, before []int) bool { return c.first(i, before) >= 0 }

// tell tells of a change unless one that was told of is the same: then its citations join that.
func (c *comparison) tell(p pair) {
	for n, t := range c.told {
		if c.alike(t, p) {
			c.changes.Changed[n].Old.cite(c.claims[p.old].CitationID)
			c.changes.Changed[n].New.cite(c.claims[p.now].CitationID)
			return
		}
	}
	c.told = append(c.told, p)
	c.changes.Changed = append(c.changes.Changed, Change{Kind: p.turn.Kind, Old: c.said(p.old, p.turn.Old, c.lost), New: c.said(p.now, p.turn.New, c.fresh)})
}

func (c *comparison) alike(a, b pair) bool {
	return a.turn == b.turn && (a.now == b.now || c.same(a.now, b.now) || c.within(a.now, map[int]bool{b.now: true}))
}

// said shows a claim. like: claims of which those that say the same are cited too.
func (c *comparison) said(i int, value string, like []int) Said {
	claim := c.claims[i]
	s := Said{
		Statement: cmp.Or(topicqueue.OneLine(claim.Text), topicqueue.OneLine(claim.Quote)), Quote: topicqueue.OneLine(claim.Quote), Value: value,
		Citations: []string{claim.CitationID}, BlockID: c.blocks[i], Title: topicqueue.OneLine(claim.Source.Title), URL: claim.Source.URL, Document: claim.Source.Document,
	}
	for _, j := range like {
		if j != i && c.same(i, j) {
			s.cite(c.claims[j].CitationID)
		}
	}
	return s
}

func (s *Said) cite(id string) {
	for _, known := range s.Citations {
		if known == id {
			return
		}
	}
	s.Citations = append(s.Citations, id)
}

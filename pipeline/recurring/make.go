package recurring

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// NothingFound is the reason of a block that has looked and found nothing: it has failed, and yet is done.
const NothingFound = "no source was found that says something about this"

// Call is a call of a tool and what it returned.
type Call struct {
	ID        string  `json:"tool_id"`
	Block     string  `json:"block_id"`
	Tool      string  `json:"tool"`
	Query     string  `json:"query"`
	Aside     bool    `json:"aside,omitempty"`     // it is not made again: the next run would have no reason to
	Failed    bool    `json:"failed,omitempty"`    // it says nothing about its pages, unless Gone
	Gone      bool    `json:"gone,omitempty"`      // there is no such page
	Unchanged bool    `json:"unchanged,omitempty"` // the page is as it was
	Results   int     `json:"results"`             // sources that it returned
	Found     []Found `json:"found"`               // their pages, each once, in order
}

// Found is one page that a call returned.
type Found struct {
	Key string `json:"key"` // PageKey
	Page
}

// CallOf returns what is remembered of a call. The texts of the answer's sources must be there.
func CallOf(block, tool string, call tools.Call, a tools.Answer, aside bool) Call {
	c := Call{ID: call.ToolID, Block: block, Tool: tool, Query: call.Query, Aside: aside, Failed: a.Failed, Gone: a.Gone, Unchanged: a.Unchanged, Results: len(a.Sources), Found: []Found{}}
	for _, s := range a.Sources {
		key := PageKey(s)
		if i := slices.IndexFunc(c.Found, func(f Found) bool { return f.Key == key }); i >= 0 {
			c.Found[i].Marks = c.Found[i].Marks.With(MarksOf(s.Text))
		} else if key != "" {
			c.Found = append(c.Found, Found{key, pageOf(s, tool == openPage)})
		}
	}
	return c
}

func pageOf(s topicqueue.Source, opened bool) Page {
	return Page{URL: s.URL, Title: s.Title, ETag: s.ETag, LastModified: s.LastModified, Hash: s.Hash, Opened: opened, Marks: MarksOf(s.Text)}
}

// Version returns how the page's server calls the version that was seen.
func (p Page) Version() fetch.Version {
	return fetch.Version{ETag: p.ETag, LastModified: p.LastModified}
}

const (
	openPage = "open_page"
	runCode  = "run_code"
)

// BlockEvidence is a block with what it found.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Ended is a run that has ended with a report.
type Ended struct {
	Run    topicqueue.Run
	Epoch  int
	Plan   topicqueue.Plan
	Blocks []BlockEvidence
	Calls  []Call
	Open   []Open // gaps of the report
	Text   json.RawMessage
}

// Make makes the memory of a run that has ended. base: the memory that it went on from; nil: none. Version is left for whoever
// stores it, and the marks of documents are those of what was shown of them: see Documents. It returns nil when no claim is left to
// remember.
func Make(base *Memory, e Ended) *Memory {
	m := &Memory{
		Schema: schema, Key: Key(e.Run.Topic, e.Run.Options), Topic: e.Run.Topic, RunID: e.Run.ID, Epoch: e.Epoch, Date: e.Run.Date(e.Run.EndedAt),
		CreatedAt: e.Run.CreatedAt, KnowledgeBase: e.Run.Options.KnowledgeBase, KnowledgeVersion: e.Run.Options.KnowledgeVersion,
		Plan: e.Plan, Blocks: []Block{}, Open: e.Open, Text: e.Text,
	}
	if m.Open == nil {
		m.Open = []Open{}
	}
	m.Plan.SubTopics, m.Plan.Traces, m.Plan.Memory, m.Plan.Returned = nil, nil, "", ""
	calls := slices.SortedFunc(slices.Values(e.Calls), func(a, b Call) int { return cmp.Compare(a.ID, b.ID) })
	var before map[string]Page
	if base != nil {
		before = base.Pages
	}
	m.Pages = pages(before, calls)
	claims := 0
	for _, b := range e.Blocks {
		var old Block
		if base != nil {
			old, _ = base.Block(b.Block.ID, b.Block.Title)
		}
		made := old
		if b.Block.Iterations > 0 || old.ID == "" {
			made = block(b, old, calls, m.Date)
		}
		for _, t := range made.Traces {
			claims += len(t.Claims)
		}
		m.Blocks = append(m.Blocks, made)
	}
	if claims == 0 {
		return nil
	}
	m.forget()
	return m
}

// block returns what is remembered of a block that was worked on.
func block(b BlockEvidence, old Block, calls []Call, date string) Block {
	t := b.Block
	out := Block{
		ID: t.ID, SubTopic: topicqueue.SubTopic{Title: t.Title, Overview: t.Overview, Queries: t.Queries, Parent: t.Parent, Why: t.Why},
		LastSeq: old.LastSeq, Traces: []topicqueue.ToolTrace{}, Asked: []Asked{},
	}
	done := t.Status == topicqueue.BlockCompleted && t.Reason == "" || t.Status == topicqueue.BlockFailed && t.Reason == NothingFound
	out.Unfinished = !done
	for _, trace := range b.Traces {
		out.LastSeq = max(out.LastSeq, Seq(trace.CitationID))
		if len(trace.Withdrawn) > 0 || trace.Dropped > 0 && len(trace.Claims) == 0 {
			continue
		}
		trace.Since, trace.Unchecked, trace.Dropped = cmp.Or(trace.Since, date), false, 0
		out.Traces = append(out.Traces, trace)
	}
	asked := map[string]bool{}
	for _, c := range calls {
		form := tools.Key(c.Tool, c.Query)
		if c.Block != t.ID || c.Aside || c.Tool == runCode || form == "" || asked[form] || c.Gone {
			continue
		}
		asked[form] = true
		a := Asked{Tool: c.Tool, Query: c.Query, Results: c.Results, Found: []string{}}
		for _, f := range c.Found {
			a.Found = append(a.Found, f.Key)
		}
		switch i := slices.IndexFunc(old.Asked, func(o Asked) bool { return tools.Key(o.Tool, o.Query) == form }); {
		case (c.Failed || c.Unchanged) && i >= 0:
			a = old.Asked[i]
		case c.Failed: // what it would have found is not known, so nothing could be told from finding it
			continue
		}
		out.Asked = append(out.Asked, a)
	}
	return out
}

// Seq returns the number of a citation within its block: 2 of CIT-3-02; 0 for what is none.
func Seq(citationID string) int {
	n, err := strconv.Atoi(citationID[strings.LastIndexByte(citationID, '-')+1:])
	if err != nil {
		return 0
	}
	return n
}

// pages returns the pages as they are now: what was opened or shown tonight, and what nobody has seen otherwise since.
func pages(before map[string]Page, calls []Call) map[string]Page {
	now, gone := map[string]Page{}, map[string]bool{}
	for _, c := range calls {
		if c.Gone {
			gone[AddressKey(c.Query)] = true
		}
		for _, f := range c.Found {
			have, there := now[f.Key]
			switch {
			case !there:
				have = f.Page
			case f.Opened && !have.Opened:
				marks := have.Marks
				have = f.Page
				have.Marks = have.Marks.With(marks)
			default:
				have.Marks = have.Marks.With(f.Marks)
			}
			now[f.Key] = have
		}
	}
	for _, c := range calls { // an address that leads to another one
		if key := AddressKey(c.Query); c.Tool == openPage && len(c.Found) == 1 && c.Found[0].Key != key {
			now[key] = now[c.Found[0].Key]
		}
	}
	for key, old := range before {
		have, there := now[key]
		switch {
		case gone[key]:
		case !there:
			now[key] = old
		case old.Opened && !have.Opened: // it was not sent again
			old.Marks = old.Marks.With(have.Marks)
			now[key] = old
		}
	}
	return now
}

// forget drops pages that nothing refers to any more.
func (m *Memory) forget() {
	used := map[string]bool{}
	for _, b := range m.Blocks {
		for _, t := range b.Traces {
			used[PageKey(t.Source)] = true
		}
		for _, a := range b.Asked {
			for _, key := range a.Found {
				used[key] = true
			}
			if a.Tool == openPage {
				used[AddressKey(a.Query)] = true
			}
		}
	}
	for key := range m.Pages {
		if !used[key] {
			delete(m.Pages, key)
		}
	}
}

// Documents returns the keys of the documents among the pages, in order: whoever has the knowledge base tells of them by SetDocument.
func (m *Memory) Documents() []string {
	var list []string
	for key := range m.Pages {
		if document := Document(key); document != "" {
			list = append(list, document)
		}
	}
	slices.Sort(list)
	return list
}

// SetDocument remembers the whole text of a document.
func (m *Memory) SetDocument(document, text string) {
	page := m.Pages[DocumentKey(document)]
	page.Hash, page.Opened, page.Marks = topicqueue.TextHash(text), true, MarksOf(text)
	m.Pages[DocumentKey(document)] = page
}

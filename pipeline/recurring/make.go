package recurring

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// NothingFound is the reason of a block that searched and found nothing. Its status is failed, but its work is done.
const NothingFound = "no source was found that says something about this"

const (
	openPage = tools.NameOpenPage
	runCode  = tools.NameRunCode

	// ReadDocument is the tool name of reading a whole document of a knowledge base. Its first source is the document,
	// the others are passages of it.
	ReadDocument = "read_document"
)

// BlockEvidence is a block with its evidence.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Ended is a run that ended with a report.
type Ended struct {
	Run      topicqueue.Run
	Epoch    int
	Plan     topicqueue.Plan
	Review   topicqueue.Review
	Blocks   []BlockEvidence
	Returned []topicqueue.Returned // results of all calls of the run
	Open     []Open                // gaps of the report
	Text     json.RawMessage
}

// Make returns the memory of an ended run, or nil if there is nothing to check again. base: memory that the run
// continued; nil: none. The caller sets Version when storing it.
func Make(base *Memory, e Ended) *Memory {
	m := &Memory{
		Schema: schema, Key: Key(e.Run.Topic, e.Run.Options), Topic: e.Run.Topic, RunID: e.Run.ID, Epoch: e.Epoch,
		Date: e.Run.Date(e.Run.EndedAt), CreatedAt: e.Run.CreatedAt, EndedAt: e.Run.EndedAt, Plan: e.Plan,
		Blocks: []Block{}, Open: e.Open, Text: e.Text, Review: e.Review.Standing(""),
		KnowledgeBase: e.Run.Options.KnowledgeBase, KnowledgeVersion: e.Run.Options.KnowledgeVersion,
	}
	if m.Open == nil {
		m.Open = []Open{}
	}
	m.Review.Earlier = false
	m.Plan.SubTopics, m.Plan.Traces, m.Plan.Memory, m.Plan.Returned = nil, nil, "", ""
	m.Pages = pages(base, e)
	for _, b := range e.Blocks {
		var old Block
		if base != nil {
			old, _ = base.Block(b.Block.ID, b.Block.Title)
		}
		made := old
		if b.Block.Iterations > 0 || old.ID == "" {
			made = block(b, old, e.Returned, m.Date)
		}
		m.Blocks = append(m.Blocks, made)
	}
	m.forget()
	if !slices.ContainsFunc(m.Blocks, func(b Block) bool { return len(b.Traces)+len(b.Asked) > 0 }) {
		return nil
	}
	return m
}

// block returns the memory of a block that was worked on.
func block(b BlockEvidence, old Block, returned []topicqueue.Returned, date string) Block {
	t := b.Block
	out := Block{
		ID: t.ID, SubTopic: topicqueue.SubTopic{
			Title: t.Title, Overview: t.Overview, Queries: t.Queries, Parent: t.Parent, Why: t.Why,
		},
		LastSeq: old.LastSeq, Traces: []topicqueue.ToolTrace{}, Asked: slices.Clone(old.Asked),
	}
	completed := t.Status == topicqueue.BlockCompleted && t.Reason == ""
	nothing := t.Status == topicqueue.BlockFailed && t.Reason == NothingFound
	out.Unfinished = !completed && !nothing
	for _, trace := range b.Traces {
		out.LastSeq = max(out.LastSeq, seq(trace.CitationID))
		if len(trace.Claims) == 0 {
			continue
		}
		trace.Since, trace.Unchecked, trace.Reread = cmp.Or(trace.Since, date), false, false
		trace.Dropped, trace.Added = 0, nil
		trace.RawAnswer = topicqueue.PagePath(trace.Source.Hash) // the only part of the answer in the next bundle
		out.Traces = append(out.Traces, trace)
	}
	for _, r := range returned {
		form := tools.Key(r.ToolType, r.Query)
		if blockOf(r) != t.ID || r.ToolType == runCode || r.ToolType == ReadDocument || form == "" {
			continue
		}
		a := Asked{Tool: r.ToolType, Query: r.Query, Found: []string{}}
		for _, s := range r.Sources {
			if key := PageKey(s); key != "" && !slices.Contains(a.Found, key) {
				a.Found = append(a.Found, key)
			}
			if s.Hash != "" {
				a.Results++
			}
		}
		if i := slices.IndexFunc(out.Asked, func(o Asked) bool { return tools.Key(o.Tool, o.Query) == form }); i >= 0 {
			out.Asked[i] = a
		} else {
			out.Asked = append(out.Asked, a)
		}
	}
	return out
}

// blockOf returns the block that made a call.
func blockOf(r topicqueue.Returned) string {
	block, _, _ := strings.Cut(r.ToolID, "/")
	return block
}

// seq returns the sequence number of a citation, such as 2 for CIT-3-02, or 0 for another form.
func seq(citationID string) int {
	n, err := strconv.Atoi(citationID[strings.LastIndexByte(citationID, '-')+1:])
	if err != nil {
		return 0
	}
	return n
}

// pages returns the current pages: those opened or shown in this run, and older ones that were not seen again.
func pages(base *Memory, e Ended) map[string]Page {
	now := map[string]Page{}
	if base != nil {
		for key, p := range base.Pages {
			now[key] = p
		}
	}
	for _, b := range e.Blocks {
		for _, t := range b.Traces {
			if t.Source.AsOf != nil && t.Source.AsOf.Gone {
				delete(now, PageKey(t.Source))
			}
		}
	}
	for _, r := range e.Returned {
		if topicqueue.BlockNumber(blockOf(r)) == 0 {
			continue
		}
		for i, s := range r.Sources {
			key, opened := PageKey(s), r.ToolType == openPage || r.ToolType == ReadDocument && i == 0
			if key == "" || now[key].Opened && !opened {
				continue
			}
			now[key] = Page{URL: s.URL, Title: s.Title, ETag: s.ETag, LastModified: s.LastModified, Hash: s.Hash, Opened: opened}
			if asked := AddressKey(r.Query); r.ToolType == openPage && asked != key { // the address was redirected
				now[asked] = now[key]
			}
		}
	}
	return now
}

// forget removes pages without references.
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

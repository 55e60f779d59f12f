package recurring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// schema numbers the form of a memory. One of another form is none.
const schema = 2

// Key returns what a topic's memory is kept under: 32 hex digits of the SHA-256 of the topic's canonical form, the
// knowledge base and the tools, which say what sources there are. Runs with other sources remember for themselves, so
// that nothing of a private knowledge base reaches a run that does not name it.
func Key(topic string, o topicqueue.Options) string {
	names := slices.Sorted(slices.Values(o.Tools))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", topicqueue.TopicKey(topic), o.KnowledgeBase, strings.Join(names, ",")))
	return hex.EncodeToString(sum[:16])
}

// Memory is what is kept of the last run of a topic.
type Memory struct {
	Schema           int             `json:"schema"`
	Version          int             `json:"version"` // 1 is the first of this topic
	Key              string          `json:"key"`
	Topic            string          `json:"topic"` // as the user gave it
	RunID            string          `json:"run_id"`
	Epoch            int             `json:"epoch"` // of the run
	Date             string          `json:"date"`  // of the run, YYYY-MM-DD
	CreatedAt        time.Time       `json:"created_at"`
	EndedAt          time.Time       `json:"ended_at,omitzero"`
	KnowledgeBase    string          `json:"knowledge_base,omitempty"`
	KnowledgeVersion string          `json:"knowledge_version,omitempty"`
	Plan             topicqueue.Plan `json:"plan"` // without sub-topics, which are the blocks, and traces, which have no claims
	Blocks           []Block         `json:"blocks"`
	Pages            map[string]Page `json:"pages"` // by PageKey: all that was seen, with a claim or without
	Open             []Open          `json:"open"`  // what the report could not say
	// of the claims that stand: what contradicts what; a night on which nothing has moved has no other review
	Review topicqueue.Review `json:"review,omitzero"`
	Text   json.RawMessage   `json:"text,omitempty"` // of the report, as package reporting keeps it; none: no model wrote it
}

// Block is a topic block with what it found and asked.
type Block struct {
	ID         string                 `json:"block_id"`
	SubTopic   topicqueue.SubTopic    `json:"sub_topic"`
	Unfinished bool                   `json:"unfinished,omitempty"` // its research was not done: the next run begins it anew
	LastSeq    int                    `json:"last_seq"`             // number of its last citation: none is given twice
	Traces     []topicqueue.ToolTrace `json:"traces"`
	Asked      []Asked                `json:"asked"`
}

// Asked is a call of a block that is made again.
type Asked struct {
	Tool    string   `json:"tool"`
	Query   string   `json:"query"`
	Results int      `json:"results"` // sources that it returned
	Found   []string `json:"found"`   // their pages, each once, in order
}

// Page is a page, document or paper as the run saw it.
type Page struct {
	URL          string `json:"url,omitempty"`
	Title        string `json:"title,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Hash         string `json:"sha256"`           // of its text: that of the page as it was opened, else of what a search showed
	Opened       bool   `json:"opened,omitempty"` // its whole text was read
}

// Version returns how the page's server calls the version that was seen.
func (p Page) Version() fetch.Version {
	return fetch.Version{ETag: p.ETag, LastModified: p.LastModified}
}

// PageKey returns what tells pages apart: the address of a page without what does not change it, the key of a
// document, the DOI of a paper. Empty for what is never looked at again, such as the output of a program.
func PageKey(s topicqueue.Source) string {
	switch {
	case s.Kind == topicqueue.SourceCode, s.Kind == topicqueue.SourceTool:
		return ""
	case s.Kind == topicqueue.SourceDocument:
		return "doc:" + s.Document
	case s.DOI != "":
		return "doi:" + s.DOI
	case s.URL != "":
		return AddressKey(s.URL)
	}
	return ""
}

// AddressKey returns the PageKey of a page of the web.
func AddressKey(address string) string {
	_, form, _ := strings.Cut(tools.Key("open_page", address), "\x00")
	return "web:" + form
}

// Document returns the document that a PageKey is of, "" when it is none.
func Document(key string) string {
	document, ok := strings.CutPrefix(key, "doc:")
	if !ok {
		return ""
	}
	return document
}

// Decode reads a memory. One of another form, or of another topic, is an error.
func Decode(body []byte, key string) (*Memory, error) {
	m := &Memory{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("decode the memory of topic %s: %w", key, err)
	}
	if m.Schema != schema || m.Key != key || m.RunID == "" {
		return nil, fmt.Errorf("the memory of topic %s has format %d, key %q and run %q: the next run replaces it", key, m.Schema, m.Key, m.RunID)
	}
	return m, nil
}

// Block returns what is remembered of a block of this id and title; false when there is none. m may be nil.
func (m *Memory) Block(id, title string) (Block, bool) {
	if m == nil {
		return Block{}, false
	}
	for _, b := range m.Blocks {
		if b.ID == id && b.SubTopic.Title == title {
			return b, true
		}
	}
	return Block{}, false
}

// Remembered returns the plan of the next run: the blocks of the last one in their order, so that their citations
// keep their ids.
func (m *Memory) Remembered() topicqueue.Plan {
	plan := m.Plan
	plan.SubTopics = nil
	for _, b := range m.Blocks {
		plan.SubTopics = append(plan.SubTopics, b.SubTopic)
	}
	return plan
}

// Texts returns the hashes of the texts that the next run compares: of the sources that traces name, which it needs,
// and of opened pages, without which it does not know what else stood there. Those of documents are in their
// knowledge base. A program's answer is not compared: references lead to it.
func (m *Memory) Texts() (needed, wanted []string) {
	seen := map[string]bool{"": true}
	add := func(list *[]string, hash string) {
		if !seen[hash] {
			seen[hash] = true
			*list = append(*list, hash)
		}
	}
	for _, b := range m.Blocks {
		for _, t := range b.Traces {
			add(&needed, t.Source.Hash)
		}
	}
	for _, b := range m.Blocks {
		for _, t := range b.Traces {
			if t.Source.Stored() {
				add(&wanted, topicqueue.PageHash(t.Source.Document))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Pages)) {
		if p := m.Pages[key]; p.Opened {
			add(&wanted, p.Hash)
		}
	}
	return needed, wanted
}

// Figures returns the pictures of programs that traces name, each once.
func (m *Memory) Figures() []string {
	var list []string
	for _, b := range m.Blocks {
		for _, t := range b.Traces {
			for _, f := range t.Source.Figures {
				list = append(list, f.Path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Since says when the last run was, for a report of today: its day, and the time where that is today.
func (m *Memory) Since(today string) string {
	ended := m.EndedAt
	if ended.IsZero() { // kept by an earlier version
		ended = m.CreatedAt
	}
	if m.Date != today || ended.IsZero() {
		return m.Date
	}
	return Told(ended, today)
}

// Told writes a day, with the time where it is today.
func Told(at time.Time, today string) string {
	if day := at.UTC().Format(time.DateOnly); day != today {
		return day
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// Later reports that m is to stand in the place of o, of which nil is none: it is of a run that was enqueued later,
// or of a later attempt at the same run. Of runs that were enqueued at the same moment, the ids decide.
func (m *Memory) Later(o *Memory) bool {
	if o == nil {
		return true
	}
	if m.RunID == o.RunID {
		return m.Epoch > o.Epoch
	}
	return cmp.Or(m.CreatedAt.Compare(o.CreatedAt), cmp.Compare(m.RunID, o.RunID)) > 0
}

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

// schema is the version of the memory format. Memories of other versions are rejected.
const schema = 2

// Key returns the storage key of a topic's memory: 32 hex digits of the SHA-256 of the topic's canonical form, the
// knowledge base and the tools. Runs with different sources have separate memories, so that content of a private
// knowledge base never reaches a run that does not name it.
func Key(topic string, o topicqueue.Options) string {
	names := strings.Join(slices.Sorted(slices.Values(o.Tools)), ",")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", topicqueue.TopicKey(topic), o.KnowledgeBase, names))
	return hex.EncodeToString(sum[:16])
}

// Memory holds the results of the last run of a topic.
type Memory struct {
	Schema           int             `json:"schema"`
	Version          int             `json:"version"` // 1 is the first of this topic
	Key              string          `json:"key"`
	Topic            string          `json:"topic"` // as entered by the user
	RunID            string          `json:"run_id"`
	Epoch            int             `json:"epoch"` // epoch of the run
	Date             string          `json:"date"`  // date of the run, YYYY-MM-DD
	CreatedAt        time.Time       `json:"created_at"`
	EndedAt          time.Time       `json:"ended_at,omitzero"`
	KnowledgeBase    string          `json:"knowledge_base,omitempty"`
	KnowledgeVersion string          `json:"knowledge_version,omitempty"`
	Plan             topicqueue.Plan `json:"plan"` // without sub-topics (see Blocks) and traces (no claims)
	Blocks           []Block         `json:"blocks"`
	Pages            map[string]Page `json:"pages"` // by PageKey: all pages seen, with and without claims
	Open             []Open          `json:"open"`  // gaps of the report
	// Review has the contradictions among the claims that still hold. A run without changes has no other review.
	Review topicqueue.Review `json:"review,omitzero"`
	Text   json.RawMessage   `json:"text,omitempty"` // report text as kept by package reporting; none: no model wrote it
}

// Block is a topic block with its results and calls.
type Block struct {
	ID         string                 `json:"block_id"`
	SubTopic   topicqueue.SubTopic    `json:"sub_topic"`
	Unfinished bool                   `json:"unfinished,omitempty"` // research was not finished: the next run starts over
	LastSeq    int                    `json:"last_seq"`             // last citation number; numbers are not reused
	Traces     []topicqueue.ToolTrace `json:"traces"`
	Asked      []Asked                `json:"asked"`
}

// Asked is a call of a block that the next run repeats.
type Asked struct {
	Tool    string   `json:"tool"`
	Query   string   `json:"query"`
	Results int      `json:"results"` // number of returned sources
	Found   []string `json:"found"`   // distinct pages of the sources, in order
}

// Page is a page, document or paper as the run saw it.
type Page struct {
	URL          string `json:"url,omitempty"`
	Title        string `json:"title,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Hash         string `json:"sha256"`           // of the opened page's text, or else of the text in a search result
	Opened       bool   `json:"opened,omitempty"` // the whole text was read
}

// Version returns the server's identifiers of the version seen.
func (p Page) Version() fetch.Version {
	return fetch.Version{ETag: p.ETag, LastModified: p.LastModified}
}

// PageKey identifies a page: its normalized address, the key of a document, or the DOI of a paper. It is "" for sources
// that are not checked again, such as program output.
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

// AddressKey returns the PageKey of a web page.
func AddressKey(address string) string {
	_, form, _ := strings.Cut(tools.Key(tools.NameOpenPage, address), "\x00")
	return "web:" + form
}

// Document returns the document of a PageKey, or "" for other pages.
func Document(key string) string {
	document, ok := strings.CutPrefix(key, "doc:")
	if !ok {
		return ""
	}
	return document
}

// Decode parses a memory. A different schema version or topic is an error.
func Decode(body []byte, key string) (*Memory, error) {
	m := &Memory{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("decode the memory of topic %s: %w", key, err)
	}
	if m.Schema != schema || m.Key != key || m.RunID == "" {
		return nil, fmt.Errorf("the memory of topic %s has format %d, key %q and run %q: the next run replaces it",
			key, m.Schema, m.Key, m.RunID)
	}
	return m, nil
}

// Block returns the memory of the block with this id and title; false if there is none. m may be nil.
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

// Remembered returns the plan of the next run: the blocks of the last one in order, so that citations keep their ids.
func (m *Memory) Remembered() topicqueue.Plan {
	plan := m.Plan
	plan.SubTopics = nil
	for _, b := range m.Blocks {
		plan.SubTopics = append(plan.SubTopics, b.SubTopic)
	}
	return plan
}

// Texts returns the hashes of texts for the next run. needed: texts of the sources of traces, which must be present.
// wanted: texts of opened pages and of stored answers. Without a wanted text, the next run does not know the rest of a
// page.
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

// Figures returns the distinct figure paths of the sources of traces.
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

// Since returns the date of the last run, with the time if it is today.
func (m *Memory) Since(today string) string {
	ended := m.EndedAt
	if ended.IsZero() { // stored by an earlier version
		ended = m.CreatedAt
	}
	if m.Date != today || ended.IsZero() {
		return m.Date
	}
	return Told(ended, today)
}

// Told formats a time as a date, with the time if it is today.
func Told(at time.Time, today string) string {
	if day := at.UTC().Format(time.DateOnly); day != today {
		return day
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// Later reports whether m replaces o, which may be nil. m must be of a run that was enqueued later, or of a later
// attempt at the same run. If both runs were enqueued at the same moment, the greater id wins.
func (m *Memory) Later(o *Memory) bool {
	if o == nil {
		return true
	}
	if m.RunID == o.RunID {
		return m.Epoch > o.Epoch
	}
	return cmp.Or(m.CreatedAt.Compare(o.CreatedAt), cmp.Compare(m.RunID, o.RunID)) > 0
}

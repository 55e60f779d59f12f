package main_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"

	"nightdesk/pipeline/llm/llmtest"
)

// span is the time from the first model call of a block to the end of its last.
type span struct{ from, to time.Time }

// fleetModel gives sensible answers and remembers when each block was worked.
type fleetModel struct {
	mu     sync.Mutex
	blocks map[string]map[string]*span // topic -> title -> when
	calls  int
	parts  int             // topic blocks that it plans
	review func() []string // titles of the gaps that a review finds; nil: none
	claims int             // of one note, at most; 0: 1
}

var (
	harbour   = regexp.MustCompile(`harbour number \d+`)
	blockName = regexp.MustCompile(`(?m)^Title: (The [a-z]+ of the harbour)$`)
	iteration = regexp.MustCompile(`Iteration (\d+) of`)
	sentence  = regexp.MustCompile(`The harbour inspects [^.]*rule [\d.]+\.`)
	citation  = regexp.MustCompile(`\[CIT-\d+-\d+\]`)
)

func (f *fleetModel) answer(q llmtest.Question) (string, bool) {
	title := ""
	if m := blockName.FindStringSubmatch(q.User); m != nil {
		title = m[1]
	}
	f.mu.Lock()
	f.calls++
	if title != "" && (strings.HasPrefix(q.Name, "decide") || strings.HasPrefix(q.Name, "note")) {
		topic := harbour.FindString(q.User)
		if f.blocks[topic] == nil {
			f.blocks[topic] = map[string]*span{}
		}
		now := time.Now()
		if s := f.blocks[topic][title]; s == nil {
			f.blocks[topic][title] = &span{now, now}
		} else {
			s.to = now
		}
	}
	f.mu.Unlock()
	answer := func(v any) (string, bool) {
		data, _ := json.Marshal(v)
		return string(data), true
	}
	type object = map[string]any
	switch {
	case strings.HasPrefix(q.Name, "queries"):
		return answer(object{"think": "", "queries": fleetParts[:8]})
	case strings.HasPrefix(q.Name, "decompose"):
		var topics []object
		for _, part := range fleetParts[:f.parts] {
			topics = append(topics, object{"title": "The " + part + " of the harbour", "overview": "Find out how the " + part + " are kept. Note every rule.", "queries": []string{part}})
		}
		return answer(object{"think": "", "sub_topics": topics})
	case strings.HasPrefix(q.Name, "decide"):
		k := 1
		if m := iteration.FindStringSubmatch(q.User); m != nil {
			fmt.Sscan(m[1], &k)
		}
		query := fmt.Sprintf("%s and the %s", title, fleetParts[(k*2)%len(fleetParts)])
		return answer(object{"think": "", "reasoning": "More is needed.", "is_sufficient": false, "new_sub_topics": []object{},
			"actions": []object{{"tool_type": "rag_hybrid", "query": query, "rationale": "a gap"}}})
	case strings.HasPrefix(q.Name, "note"):
		claims := []object{}
		for _, quote := range sentence.FindAllString(q.User, max(1, f.claims)) {
			claims = append(claims, object{"source": 1, "text": quote, "quote": quote})
		}
		return answer(object{"think": "", "summary": "Inspections are regular.", "claims": claims})
	case strings.HasPrefix(q.Name, "review"):
		gaps := []object{}
		if f.review != nil {
			for _, title := range f.review() {
				gaps = append(gaps, object{"title": title, "overview": "Find out.", "queries": []string{title}, "parent": "", "reason": "It is open."})
			}
		}
		return answer(object{"think": "", "draft": "", "reasoning": "All else is answered.", "gaps": gaps})
	case strings.HasPrefix(q.Name, "outline"):
		var sections []object
		for i, part := range fleetParts[:f.parts] {
			sections = append(sections, object{"title": "How the " + part + " are kept", "instruction": "Tell.", "block_ids": []string{fmt.Sprintf("block_%d", i+1)}, "claims": []int{}, "subsections": []object{}})
		}
		return answer(object{"think": "", "title": "Keeping a harbour", "introduction": "Begin.", "conclusion": "End.", "sections": sections})
	case q.Schema == nil:
		ids := citation.FindAllString(q.User, 3)
		text := "The harbour keeps a calendar of inspections."
		for _, id := range ids {
			text += fmt.Sprintf(" %s records one rule of it %s.", strings.Trim(id, "[]"), id)
		}
		return text, true
	}
	return "", false
}

// blocksSeen returns how many blocks have been asked about.
func (f *fleetModel) blocksSeen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, blocks := range f.blocks {
		n += len(blocks)
	}
	return n
}

// most returns the largest number of blocks of one run whose spans overlap, and the number of calls.
func (f *fleetModel) most() (most, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, blocks := range f.blocks {
		type edge struct {
			at    time.Time
			delta int
		}
		var edges []edge
		for _, s := range blocks {
			edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
		}
		sort.Slice(edges, func(i, j int) bool { return edges[i].at.Before(edges[j].at) })
		n := 0
		for _, e := range edges {
			n += e.delta
			most = max(most, n)
		}
	}
	return most, f.calls
}

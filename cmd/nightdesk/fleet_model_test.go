package main_test

import (
	"sort"
	"strings"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
)

// span is the time from the first model call of a block to the end of its last.
type span struct{ from, to time.Time }

// fleetModel is a model that remembers when each block was worked.
type fleetModel struct {
	benchtest.Model
	mu     sync.Mutex
	blocks map[string]map[string]*span // topic -> title -> when
	calls  int
}

func newFleetModel(parts int) *fleetModel {
	return &fleetModel{Model: benchtest.Model{Parts: parts}, blocks: map[string]map[string]*span{}}
}

func (f *fleetModel) answer(q llmtest.Question) (string, bool) {
	title, topic, now := benchtest.BlockOf(q.User), benchtest.HarbourOf(q.User), time.Now()
	f.mu.Lock()
	f.calls++
	if title != "" && (strings.HasPrefix(q.Name, "decide") || strings.HasPrefix(q.Name, "note")) {
		if f.blocks[topic] == nil {
			f.blocks[topic] = map[string]*span{}
		}
		if s := f.blocks[topic][title]; s == nil {
			f.blocks[topic][title] = &span{now, now}
		} else {
			s.to = now
		}
	}
	f.mu.Unlock()
	return f.Answer(q)
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

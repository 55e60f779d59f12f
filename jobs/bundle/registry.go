package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// sourceLine is a source in sources.jsonl: a source that a tool call of the run returned, or that the run keeps from an
// earlier run.
type sourceLine struct {
	topicqueue.Source
	Normalized string   `json:"normalized_url,omitempty"`
	ReturnedBy []string `json:"returned_by"`  // tool ids; empty: from an earlier run
	Citations  []string `json:"citation_ids"` // citation ids of its traces
	Claims     int      `json:"claims"`
	Read       bool     `json:"read"`           // its text is in pages/<sha256>.txt
	Lost       bool     `json:"lost,omitempty"` // it was read, but its text is missing: see metadata.MissingTexts
	Cited      bool     `json:"cited"`          // by the report
}

// sourceCounts are the totals of sources.jsonl.
type sourceCounts struct {
	Returned   int `json:"returned"`
	Read       int `json:"read"`
	WithClaims int `json:"with_claims"`
	Cited      int `json:"cited"`
}

// sourceLines returns the lines of sources.jsonl: first the sources with traces, in their order, then the other
// returned sources. cited: ids of citations and sources; missing: hashes of missing texts.
func sourceLines(in reporting.Input, cited, missing []string) []sourceLine {
	lines, at := []sourceLine{}, map[string]int{}
	line := func(s topicqueue.Source) *sourceLine {
		i, known := at[s.ID]
		if !known {
			i = len(lines)
			at[s.ID] = i
			lost := s.Hash != "" && slices.Contains(missing, s.Hash)
			lines = append(lines, sourceLine{
				Source: s, Normalized: address.Normalize(s.URL), ReturnedBy: []string{}, Citations: []string{},
				Read: s.Hash != "" && !lost, Lost: lost, Cited: slices.Contains(cited, s.ID),
			})
		}
		return &lines[i]
	}
	for _, t := range in.Traces() {
		l := line(t.Source)
		l.Citations = append(l.Citations, t.CitationID)
		l.Claims += len(t.Claims) + len(t.Withdrawn)
		l.Cited = l.Cited || slices.Contains(cited, t.CitationID)
	}
	for _, c := range in.Returned {
		for _, s := range c.Sources {
			if l := line(s); !slices.Contains(l.ReturnedBy, c.ToolID) {
				l.ReturnedBy = append(l.ReturnedBy, c.ToolID)
			}
		}
	}
	return lines
}

func countSources(lines []sourceLine) (n sourceCounts) {
	for _, l := range lines {
		n.Returned++
		if l.Read {
			n.Read++
		}
		if l.Claims > 0 {
			n.WithClaims++
		}
		if l.Cited {
			n.Cited++
		}
	}
	return n
}

// citedOf returns the ids of citations and sources that a report cites or links.
func citedOf(citations []string, v *checking.Verification) []string {
	cited := slices.Clone(citations)
	if v != nil {
		for _, l := range v.Links {
			cited = append(cited, l.Sources...)
		}
	}
	return cited
}

// ReturnedPages are hashes of texts that list the sources returned by calls (topicqueue.Checkpoint.Returned), by unit.
type ReturnedPages map[string][]string

// InOrder returns all hashes: first of planning, then by block.
func (p ReturnedPages) InOrder(blocks []reporting.BlockEvidence) []string {
	hashes := slices.Clone(p[redisqueue.UnitPlan])
	for _, b := range blocks {
		hashes = append(hashes, p[b.Block.ID]...)
	}
	return hashes
}

// pageHash is the inverse of topicqueue.PagePath.
func pageHash(page string) string { return strings.TrimSuffix(path.Base(page), path.Ext(page)) }

// ReadReturned reads the lists of returned sources from the texts with these hashes.
func ReadReturned(ctx context.Context, store storage.Store, runID string,
	hashes []string) ([]topicqueue.Returned, error) {
	parts := make([][]topicqueue.Returned, len(hashes))
	err := storage.Each(ctx, len(hashes), func(ctx context.Context, i int) error {
		text, err := storage.Pages{Store: store}.Page(ctx, runID, hashes[i])
		if err != nil {
			return err
		}
		if parts[i], err = topicqueue.DecodeReturned(text); err != nil {
			return fmt.Errorf("%s: %w", store.Location(storage.PageKey(runID, hashes[i])), err)
		}
		return nil
	})
	return slices.Concat(parts...), err
}

// registered compares sources.jsonl with the traces and calls of the run. A bundle of an older version does not list
// the sources returned by calls, and has only those of its traces. The error is the store's.
func (c *Check) registered(ctx context.Context, store storage.Store, m storage.Manifest, in storedBundle,
	v *checking.Verification) error {
	file := sourcesJSONL.key(c.RunID)
	listed, err := sourcesJSONL.read(ctx, store, c.RunID)
	if err != nil {
		return ignoreMissing(err) // already reported by the manifest check
	}
	pages, there := map[string]bool{}, map[string]sourceLine{}
	for _, f := range m.Files {
		pages[f.Key] = true
	}
	for _, l := range listed {
		there[l.ID] = l
		c.Returned++
	}
	earlier := map[string]bool{}
	for _, t := range in.Traces() {
		earlier[t.Source.ID] = earlier[t.Source.ID] || t.Timestamp.Before(in.Run.StartedAt) || t.Source.AsOf != nil
	}
	for _, t := range in.Computed { // no tool call returned them
		earlier[t.Source.ID] = true
	}
	whole := in.lists && !in.missing // all returned sources are known
	for _, want := range sourceLines(in.Input, citedOf(in.metadata.Citations, v), in.metadata.MissingTexts) {
		got, known := there[want.ID]
		delete(there, want.ID)
		switch {
		case !known:
			c.add(file, "lacks source %s, which %s returned", want.ID,
				strings.Join(append(want.ReturnedBy, want.Citations...), ", "))
		case !in.lists:
		case whole && len(want.ReturnedBy) == 0 && !earlier[want.ID]:
			c.add(file, "lists source %s, which no tool call of the run returned", want.ID)
		case !sameLine(got, want):
			c.add(file, "describes %s differently from the calls that returned it", want.ID)
		case got.Read && !pages[storage.PageKey(c.RunID, got.Hash)]:
			c.add(file, "says that %s was read, but its text is not in the manifest", want.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		c.add(file, "lists source %s, which no tool call of the run returned", id)
	}
	return nil
}

// sameLine reports whether two lines have the same JSON.
func sameLine(a, b sourceLine) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

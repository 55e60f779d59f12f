package reporting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const placeBytes = 14_000 // of claims in one question

// useTemplate replaces the blocks of the run by the sections of its template, each with the claims that belong there. A claim
// that fits none stands in the one that comes nearest. Without a template nothing happens.
func (w *writer) useTemplate(ctx context.Context) error {
	if w.template == nil {
		return nil
	}
	w.places = w.placesNearest()
	for id, section := range w.placedBefore() {
		if _, there := w.places[id]; there && section >= 0 && section < len(w.template.Sections) {
			w.places[id] = section
		}
	}
	if w.Model != nil {
		if err := w.placesByModel(ctx); err != nil {
			return err
		}
	}
	first := map[string]int{} // what several blocks have found stands together
	for _, s := range w.subjects {
		for _, c := range s.claims {
			if at, said := first[c.statement()]; said {
				w.places[c.ID] = at
			} else {
				first[c.statement()] = w.places[c.ID]
			}
		}
	}
	sections := make([]subject, len(w.template.Sections))
	for i, s := range w.template.Sections {
		sections[i] = subject{id: sectionID(i), title: s.Title}
	}
	for _, s := range w.subjects {
		for _, c := range s.claims {
			into := &sections[w.places[c.ID]]
			for _, b := range s.blocks {
				if !slices.ContainsFunc(into.blocks, func(o topicqueue.Block) bool { return o.ID == b.ID }) {
					into.blocks = append(into.blocks, b)
				}
			}
			into.claims = append(into.claims, c)
		}
	}
	w.subjects = slices.DeleteFunc(sections, func(s subject) bool { return len(s.claims) == 0 })
	return nil
}

// placedBefore returns where the last report has its claims; nil: nothing of it is kept.
func (w *writer) placedBefore() map[string]int {
	if w.before == nil {
		return nil
	}
	return w.before.Places
}

func sectionID(i int) string { return fmt.Sprintf("section_%d", i+1) }

// templated returns the outline of the template, with the sections that have claims.
func (w *writer) templated() prompts.OutlineAnswer {
	o := w.template.outlineFor(w.title)
	for i := range o.Sections {
		if slices.ContainsFunc(w.subjects, func(s subject) bool { return s.id == sectionID(i) }) {
			o.Sections[i].BlockIDs = []string{sectionID(i)}
		}
	}
	return o
}

// withEmpty puts the sections of the template for which there is nothing among the others, in the order of the template.
func (w *writer) withEmpty(sections []section) []section {
	if w.template == nil {
		return sections
	}
	var out []section
	for _, t := range w.template.Sections {
		if i := slices.IndexFunc(sections, func(s section) bool { return s.title == t.Title }); i >= 0 {
			out = append(out, sections[i])
		} else {
			out = append(out, w.nothingFor(t.Title))
		}
	}
	return out
}

// words returns what tells what a claim is about.
func (c claim) words() string {
	return c.statement() + "\n" + c.quote() + "\n" + strings.Join(c.source.Section, " ")
}

// placesNearest gives every claim the section whose title and instruction have most of its words (BM25); one that shares
// none goes where most of its block goes, and a block that shares none to the first section.
func (w *writer) placesNearest() map[string]int {
	docs := make([]text.Document, len(w.template.Sections))
	for i, s := range w.template.Sections {
		docs[i] = text.Document{Heading: s.Title, Text: s.Instruction}
		for _, p := range s.Subsections {
			docs[i].Heading += "\n" + p.Title
			docs[i].Text += "\n" + p.Instruction
		}
	}
	index, places := text.NewIndex(docs), map[string]int{}
	for _, s := range w.subjects {
		sum := make([]float64, len(docs))
		var lost []string
		for _, c := range s.claims {
			scores := index.BM25(c.words())
			for i, score := range scores {
				sum[i] += score
			}
			if places[c.ID] = highest(scores); scores[places[c.ID]] == 0 {
				lost = append(lost, c.ID)
			}
		}
		for _, id := range lost {
			places[id] = highest(sum)
		}
	}
	return places
}

// highest returns the index of the first of the highest numbers.
func highest(scores []float64) int {
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return best
}

// placesByModel asks the model where the claims belong, of which the last report says nothing. What it does not place stays
// where it is. The error is the end of ctx and nothing else.
func (w *writer) placesByModel(ctx context.Context) error {
	var open []claim
	said := map[string]bool{}
	for _, s := range w.subjects {
		for _, c := range s.claims {
			if _, known := w.placedBefore()[c.ID]; !known && !said[c.statement()] {
				open, said[c.statement()] = append(open, c), true
			}
		}
	}
	data := prompts.PlaceData{Topic: w.topic}
	for i, s := range w.template.Sections {
		line := prompts.PlaceSection{Number: i + 1, Title: s.Title, Instruction: s.Instruction}
		for _, p := range s.Subsections {
			line.Parts = append(line.Parts, p.Title)
		}
		data.Sections = append(data.Sections, line)
	}
	for ordinal, at := 0, 0; at < len(open); ordinal++ {
		end, room := at, placeBytes
		for end < len(open) && (end == at || room >= len(open[end].statement())) {
			room -= len(open[end].statement()) + 8
			end++
		}
		if err := w.placePart(ctx, data, ordinal, open[at:end]); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// placePart asks for the places of some claims. A window that is too small for them gets half of them.
func (w *writer) placePart(ctx context.Context, data prompts.PlaceData, ordinal int, claims []claim) error {
	for shrink := range digestTries {
		shown := claims[:max(1, len(claims)>>shrink)]
		data.Claims = nil
		for i, c := range shown {
			data.Claims = append(data.Claims, prompts.PlaceClaim{Number: i + 1, Text: c.statement()})
		}
		p := prompts.Place(w.run.Options.Language, data)
		answer, err := llm.Ask[prompts.PlaceAnswer](ctx, w.Model, llm.Request{Position: w.position(p.Name, ordinal, shrink), Role: llm.Writer, Prompt: p})
		if err := ended(ctx, err); ctx.Err() != nil {
			return err
		}
		if errors.Is(err, llm.ErrContextLength) {
			continue
		}
		if err != nil {
			break
		}
		placed := map[int]bool{}
		for _, s := range answer.Sections {
			for _, n := range s.Claims {
				if s.Section < 1 || s.Section > len(w.template.Sections) || n < 1 || n > len(shown) || placed[n] {
					continue
				}
				placed[n] = true
				w.places[shown[n-1].ID] = s.Section - 1
			}
		}
		return nil
	}
	w.fellBack("place")
	return nil
}

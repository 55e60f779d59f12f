package reporting

import (
	"encoding/json"
	"slices"

	"nightdesk/pipeline/citation"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Text is a report that a model has written, in parts, as the next run of its topic needs it: a part whose evidence has not
// moved is kept word for word, with what was found when it was checked.
type Text struct {
	Language   string                  `json:"language"`
	Template   string                  `json:"template,omitempty"`
	Places     map[string]int          `json:"places,omitempty"` // of claims by id: the section of the template, from 0
	Groups     []topicqueue.SameBlocks `json:"groups"`           // blocks that were merged
	Outline    prompts.OutlineAnswer   `json:"outline"`          // of merged blocks it names the first
	Opening    keptPart                `json:"opening"`
	Sections   []keptPart              `json:"sections"` // as the outline has them
	Conclusion keptPart                `json:"conclusion"`
}

// keptPart is a part of a report: Markdown with canonical markers.
type keptPart struct {
	Body     string             `json:"body"`
	Removed  []citation.Removal `json:"removed,omitempty"`
	Left     int                `json:"left,omitempty"`     // claims that had no room
	Repeated int                `json:"repeated,omitempty"` // sentences that were taken out
	Local    bool               `json:"local,omitempty"`    // put together and not written: the next run has it written
	told
}

// told is what the check has said of a part.
type told struct {
	Checked      []CheckedSentence `json:"checked,omitempty"`
	FactsUncited int               `json:"facts_uncited,omitempty"`
}

// ReadText reads what Text is in JSON; none: nil.
func ReadText(body json.RawMessage) (*Text, error) {
	if len(body) == 0 {
		return nil, nil
	}
	t := &Text{}
	return t, json.Unmarshal(body, t)
}

// keep returns what the next run may keep of this report; nil when there will be none.
func (w *writer) keep(outline prompts.OutlineAnswer, d draft, v *Verification) *Text {
	if !w.run.Options.Incremental || d.extractive || v.Status != citation.StatusVerified {
		return nil
	}
	t := &Text{
		Language: w.run.Options.Language, Template: w.run.Options.Template, Places: w.places, Outline: outline, Opening: keptOf(d.opening), Conclusion: keptOf(d.conclusion),
	}
	for _, s := range w.subjects {
		if len(s.blocks) > 1 && w.template == nil {
			t.Groups = append(t.Groups, topicqueue.SameBlocks{Title: s.title, BlockIDs: s.blockIDs()})
		}
	}
	for _, s := range d.sections {
		t.Sections = append(t.Sections, keptPart{Body: s.body, Removed: s.removed, Left: s.left, Repeated: s.repeated, Local: s.local, told: s.told})
	}
	return t
}

func keptOf(p passage) keptPart {
	return keptPart{Body: p.body, Removed: p.removed, Repeated: p.repeated, Local: p.local, told: p.told}
}

func (k *keptPart) passage() passage {
	return passage{body: k.Body, removed: k.Removed, repeated: k.Repeated, local: k.Local, past: k}
}

// groups returns the blocks that the last report has merged, as a model would have said it.
func (t *Text) groups() []prompts.MergeGroup {
	var groups []prompts.MergeGroup
	for _, g := range t.Groups {
		groups = append(groups, prompts.MergeGroup(g))
	}
	return groups
}

// goOn takes over what the last run of the topic has left.
func (w *writer) goOn(in Input) {
	if in.Changes == nil {
		return
	}
	changes := *in.Changes
	for _, o := range in.Open { // what neither report could say
		if slices.ContainsFunc(w.gaps, func(g Gap) bool { return g.BlockID == o.BlockID }) {
			changes.Open = append(changes.Open, o)
		}
	}
	w.changes, w.moved = &changes, map[string]bool{}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			for _, c := range t.Withdrawn {
				w.moved[b.Block.ID], w.moved[c.CitationID] = true, true
			}
			if t.Since == "" && len(t.Claims) > 0 || t.Dropped > 0 {
				w.moved[b.Block.ID] = true
			}
			if t.Dropped > 0 {
				w.moved[t.CitationID] = true
			}
		}
	}
	if t := in.Before; t != nil && t.Language == w.run.Options.Language && t.Template == w.run.Options.Template && len(t.Sections) == len(t.Outline.Sections) && w.Model != nil {
		w.before = t
	}
}

// keptSection returns a section of the last report: one of the same blocks, of which none has news, and which cites nothing that has
// become something else.
func (w *writer) keptSection(o prompts.OutlineSection) (section, bool) {
	if w.before == nil {
		return section{}, false
	}
	i := slices.IndexFunc(w.before.Outline.Sections, func(b prompts.OutlineSection) bool {
		return b.Title == o.Title && slices.Equal(b.BlockIDs, o.BlockIDs)
	})
	if i < 0 || w.before.Sections[i].Local || !w.holds(w.before.Sections[i].Body) {
		return section{}, false
	}
	s := section{title: o.Title}
	for _, subject := range w.subjectsOf(o) {
		if slices.ContainsFunc(subject.blockIDs(), func(id string) bool { return w.moved[id] }) {
			return section{}, false
		}
		s.claims = append(s.claims, subject.claims...)
	}
	past := &w.before.Sections[i]
	s.body, s.removed, s.left, s.repeated, s.past = past.Body, past.Removed, past.Left, past.Repeated, past
	return s, true
}

// holds reports that everything which a text cites is what it was. Of what it links nobody has looked.
func (w *writer) holds(body string) bool {
	return !hasAddress(body) && !slices.ContainsFunc(w.registry.Render(body, citation.Options{}).Cited, func(id string) bool { return w.moved[id] })
}

// keptFrame returns the last report when all its sections are kept, and no other stands beside them: then its frame is kept too.
func (w *writer) keptFrame(sections []section) *Text {
	if w.before == nil || len(sections) != len(w.before.Sections) || w.before.Opening.Local || w.before.Conclusion.Local ||
		slices.ContainsFunc(sections, func(s section) bool { return s.past == nil }) || !w.holds(w.before.Opening.Body) || !w.holds(w.before.Conclusion.Body) {
		return nil
	}
	return w.before
}

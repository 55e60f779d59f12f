package planning

import (
	"cmp"
	"slices"
)

// coreOf returns the documents that are about the topic as a whole, best first; none when there is no such document.
func coreOf(documents []*document) []*document {
	ranked := slices.Clone(documents)
	slices.SortStableFunc(ranked, func(a, b *document) int { return cmp.Compare(b.score*(1+b.about), a.score*(1+a.about)) })
	var core []*document
	for _, d := range ranked {
		if d.score < coreScore || d.about < coreAbout {
			continue
		}
		if len(core) == 0 || d.score >= coreShare*core[0].score && d.about >= coreShare*core[0].about {
			core = append(core, d)
		}
	}
	return core
}

// sectionsOf returns the sections of a document that may stand as sub-topics. A document that is about the topic is
// cut up where its own structure does: below the deepest heading that still gathers words of the topic, and beside it.
// Of another document each section stands for itself.
func (w weights) sectionsOf(doc *document, core bool, wanted int) []section {
	var out []section
	add := func(n *node, alone bool) {
		s := section{node: n, alone: alone}
		if alone {
			own := *n
			own.kids, own.prose, own.spoke, own.lines, own.all = nil, 0, 0, 0, 0
			own.read(w)
			s.node = &own
		}
		if s.prose > 0 {
			s.title = w.title(n, core)
			out = append(out, s)
		}
	}
	if !core {
		doc.root.walk(func(n *node) { add(n, true) })
		return out
	}
	focus := doc.root
	for focus != nil {
		add(focus, true)
		var next *node
		for _, k := range focus.kids {
			if next == nil && w.gathers(focus, k) {
				next = k
			} else {
				add(k, false)
			}
		}
		focus = next
	}
	for len(out) < wanted { // too few: the largest is cut up
		i := largest(out)
		if i < 0 {
			break
		}
		n := out[i].node
		out = slices.Delete(out, i, i+1)
		add(n, true)
		for _, k := range n.kids {
			add(k, false)
		}
	}
	return out
}

// gathers reports that the sections below k are parts of the topic: its heading has words of the topic that those above
// it do not have, or k is all that stands below n.
func (w weights) gathers(n, k *node) bool {
	parts := 0
	for _, kid := range k.kids {
		if kid.prose >= minProse {
			parts++
		}
	}
	return parts >= manyParts && (k.about(w) >= n.about(w)+0.08 || float64(k.prose) > 0.9*float64(n.prose))
}

// largest returns the index of the section with most prose among those that have parts, -1 when none has.
func largest(sections []section) int {
	best := -1
	for i, s := range sections {
		parts := 0
		for _, k := range s.kids {
			if k.prose >= minProse {
				parts++
			}
		}
		if !s.alone && parts > 1 && (best < 0 || s.prose > sections[best].prose) {
			best = i
		}
	}
	return best
}

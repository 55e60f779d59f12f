package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/knowledge"
)

const (
	maxDocuments = 12    // read for one plan
	entriesOff   = 0.4   // taken off a document or section a third of which is names of entries
	maxRead      = 3_000 // bytes of one section's own text that are judged: its beginning tells what it is about
)

// document is a document of the corpus as a plan sees it: a tree of sections with how much each says about the topic.
type document struct {
	key, title string
	web        bool // a page that a search of the web has found: none of its sections can be read as a whole
	root       *node
	about      float64 // weight of the topic's words in the title
	last       int     // order of its last section
	score      float64 // how much it is about the topic as a whole, 0 to about 1
}

// node is a section of a document with the sections below it.
type node struct {
	document *document
	path     []string
	text     string // its own, without that of the sections below it
	order    int    // among all sections of the document
	kids     []*node

	// Of the node with all below it.
	prose int                // bytes of complete sentences
	spoke float64            // bytes of complete sentences, each times the weight of the topic's words in it
	lines int                // paragraphs that are no sentences: names of parameters, signatures
	all   int                // paragraphs
	has   map[string]bool    // words of the topic
	pairs map[[2]string]bool // of them that stand side by side as in the topic
}

// documents reads the documents that hits point to, those that promise most: by title, by the words of the topic that
// a section begins with, and by the search itself.
func (d *draft) documents(ctx context.Context, w weights, hits []knowledge.SectionHit) ([]*document, error) {
	promise := map[string]float64{}
	var keys []string
	best := 0.0
	for _, h := range hits {
		best = max(best, h.Score)
	}
	for _, h := range hits {
		if _, known := promise[h.Document]; !known {
			keys = append(keys, h.Document)
		}
		promise[h.Document] = max(promise[h.Document], w.headed(h.Title)+w.covered(h.Title, strings.Join(h.Section, ". "), h.Lead)+h.Score/best)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(promise[b], promise[a]) })
	var out []*document
	for _, key := range keys[:min(len(keys), maxDocuments)] {
		title, parts, err := d.Sections.Outline(ctx, key)
		if errors.Is(err, knowledge.ErrNotFound) { // removed since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the outline of %s: %w", key, err)
		}
		out = append(out, newDocument(w, key, title, parts))
	}
	return out, nil
}

// foundDocuments makes documents of what background retrieval has found, for a desk without a structure to look at.
func (d *draft) foundDocuments(w weights) []*document {
	var keys []string
	titles, parts, web := map[string]string{}, map[string][]knowledge.Part{}, map[string]bool{}
	for _, t := range d.traces {
		s := t.Source
		key := cmp.Or(s.Document, s.URL, s.Title)
		if _, known := titles[key]; !known {
			keys = append(keys, key)
			titles[key], web[key] = s.Title, s.Document == ""
		}
		parts[key] = append(parts[key], knowledge.Part{Section: s.Section, Anchor: s.Anchor, Text: s.Text})
	}
	var out []*document
	for _, key := range keys {
		document := newDocument(w, key, titles[key], parts[key])
		document.web = web[key]
		out = append(out, document)
	}
	return out
}

func newDocument(w weights, key, title string, parts []knowledge.Part) *document {
	d := &document{key: key, title: title, about: w.headed(title), last: len(parts)}
	d.root = &node{document: d}
	at := map[string]*node{"": d.root}
	for i, p := range parts {
		n := d.root
		for depth := range p.Section {
			id := strings.Join(p.Section[:depth+1], "\x1f")
			if at[id] == nil {
				at[id] = &node{document: d, path: p.Section[:depth+1], order: i + 1}
				n.kids = append(n.kids, at[id])
			}
			n = at[id]
		}
		n.text = strings.TrimSpace(n.text + "\n\n" + p.Text)
	}
	d.root.read(w)
	d.score = d.judge(w)
	return d
}

// read fills in what a node says about the topic.
func (n *node) read(w weights) {
	n.has, n.pairs = map[string]bool{}, map[[2]string]bool{}
	text := n.text[:min(len(n.text), maxRead)]
	for _, s := range extractive.Sentences(text) {
		if !s.Complete {
			continue
		}
		n.prose += len(s.Text)
		n.spoke += float64(len(s.Text)) * w.covered(s.Text)
	}
	for term := range w.in(text) {
		n.has[term] = true
	}
	if len(n.has) > 1 && len(w.pairs) > 0 {
		for p := range neighbours(text) {
			if w.pairs[p] {
				n.pairs[p] = true
			}
		}
	}
	n.lines, n.all = paragraphLines(text)
	for _, k := range n.kids {
		k.read(w)
		n.lines, n.all = n.lines+k.lines, n.all+k.all
		n.prose += k.prose
		n.spoke += k.spoke
		for term := range k.has {
			n.has[term] = true
		}
		for p := range k.pairs {
			n.pairs[p] = true
		}
	}
}

// paragraphLines counts the paragraphs of a text and those among them that are short and end without a stop. Code and
// tables are neither.
func paragraphLines(text string) (lines, all int) {
	fenced := false
	for p := range strings.SplitSeq(text, "\n\n") {
		p = strings.TrimSpace(p)
		before := fenced
		if strings.Count(p, "```")%2 == 1 {
			fenced = !fenced
		}
		if p == "" || before || fenced || strings.HasPrefix(p, "```") || p[0] == '|' {
			continue
		}
		all++
		if len(p) < 100 && !strings.ContainsAny(p[len(p)-1:], ".:!?") && p[0] != '-' && !strings.HasSuffix(p, "。") {
			lines++
		}
	}
	return lines, all
}

// explains is 1 for a text of sentences and less for a list of entries.
func (n *node) explains() float64 {
	return 1 - entriesOff*min(1, 3*float64(n.lines)/float64(max(1, n.all)))
}

// density is how much of the topic an average sentence speaks of, 0 to 1.
func (n *node) density() float64 { return n.spoke / float64(max(1, n.prose)) }

// judge says how much the document is about the topic as a whole: by its title, by its best heading, and by how much of
// its prose speaks of it. Lists of entries and of changes, and short pages, count less than what explains.
func (d *document) judge(w weights) float64 {
	size := 0
	best := d.about
	d.root.walk(func(n *node) {
		size += min(len(n.text), maxRead)
		if len(n.path) > 0 && n.prose > 0 {
			best = max(best, n.about(w))
		}
	})
	prose := float64(d.root.prose) / float64(max(1, size))
	score := 0.6*d.about + 0.15*best + 0.25*min(1, d.root.density()/typicalDensity)
	return score * (0.4 + 0.6*min(1, 1.5*prose)) * min(1, math.Sqrt(float64(d.root.prose)/2000)) * d.genre() * d.root.explains()
}

// typicalDensity is the density of a text that is about the topic throughout.
const typicalDensity = 0.4

func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, k := range n.kids {
		k.walk(visit)
	}
}

// about is the weight of the topic's words in the headings from the title down.
func (n *node) about(w weights) float64 {
	return w.headed(append([]string{n.document.title}, n.path...)...)
}

// heading is the node's own, cleaned.
func (n *node) heading() string {
	if len(n.path) == 0 {
		return extractive.Heading(n.document.title)
	}
	return extractive.Heading(n.path[len(n.path)-1])
}

// genre judges a document by what its title, or the folder that it stands in, says it is: one that introduces comes
// first, one that collects odds and ends later, and one that lists what has changed last.
func (d *document) genre() float64 {
	folder := path.Dir(d.key)
	switch {
	case changes.MatchString(d.title):
		return 0.5
	case collection.MatchString(d.title) || collection.MatchString(folder):
		return 0.75
	case introducing.MatchString(d.title) || introducing.MatchString(folder):
		return 1.1
	case entries.MatchString(d.title) || entries.MatchString(folder):
		return 0.9
	}
	return 1
}

var (
	changes     = regexp.MustCompile(`(?i)^(release|version|changes in|what.s new in)\b|\b(release notes|change ?log|history|changelogs?|errata|news)\b`)
	collection  = regexp.MustCompile(`(?i)\b(faq|frequently asked|cookbook|recipes|glossary|index|snippets|examples|appendix|acronyms|bibliography|miscellaneous)\b`)
	introducing = regexp.MustCompile(`(?i)\b(how ?to|tutorials?|introduction|overview|guide|primer|concepts|basics)\b`)
	entries     = regexp.MustCompile(`(?i)\b(api|reference)\b`)
)

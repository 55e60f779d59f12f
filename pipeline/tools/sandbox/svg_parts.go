package sandbox

import (
	"errors"
	"strings"
)

// Parts of a drawing are drawn at every reference. Parts that refer to other parts multiply: thirty lines can make a
// drawing of a billion elements. Therefore a part must not refer to parts, and the total redrawn size is limited.
const (
	maxRedrawn = 64 << 20 // bytes of SVG, counted once per reference
	maxPicture = maxPixels * maxPixels
)

// parts tracks elements that are drawn more than once.
type parts struct {
	open   []part // open elements, from the root down
	size   map[string]int
	simple map[string]bool // by id: true for a gradient, which draws nothing; false if any other element has the id
	edges  []edge
	pixels int // total pixels of embedded pictures
}

type part struct {
	id string
	at int // start offset
}

// edge is a reference.
type edge struct {
	to     string
	inside []string // ids of the enclosing elements, including its own
}

func newParts() *parts { return &parts{size: map[string]int{}, simple: map[string]bool{}} }

func (p *parts) start(element string, at int, attributes []attribute) {
	gradient := strings.HasSuffix(element, "Gradient")
	opened := part{at: at}
	var targets []string
	for _, a := range attributes {
		switch a.name {
		case "id":
			opened.id = a.value
		case "xlink:href":
			if to, own := strings.CutPrefix(a.value, "#"); own && !gradient { // gradients inherit in a chain
				targets = append(targets, to)
			}
		default:
			for _, m := range ownURL.FindAllStringSubmatch(a.value, -1) {
				targets = append(targets, m[1])
			}
		}
	}
	p.open = append(p.open, opened)
	if opened.id != "" {
		known, twice := p.simple[opened.id]
		p.simple[opened.id] = gradient && (known || !twice)
	}
	if len(targets) == 0 {
		return
	}
	var inside []string
	for _, o := range p.open {
		if o.id != "" {
			inside = append(inside, o.id)
		}
	}
	for _, to := range targets {
		p.edges = append(p.edges, edge{to, inside})
	}
}

func (p *parts) end(at int) {
	last := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	if last.id != "" {
		p.size[last.id] += at - last.at
	}
}

func (p *parts) check() error {
	if p.pixels > maxPicture {
		return errors.New("the SVG picture has too many pixels")
	}
	drawn, total := map[string]bool{}, 0
	for _, e := range p.edges {
		if !p.simple[e.to] {
			drawn[e.to] = true
			total += p.size[e.to]
		}
	}
	if total > maxRedrawn {
		return errors.New("the SVG picture reuses its parts too often")
	}
	for _, e := range p.edges {
		for _, id := range e.inside {
			if drawn[id] && !p.simple[e.to] {
				return errors.New("the SVG picture has reused parts that reuse other parts")
			}
		}
	}
	return nil
}

package pdf

import (
	"math"
	"slices"
)

// rect is an area of the page as displayed.
type rect struct{ x0, y0, x1, y1 float64 }

func (a rect) and(b rect) rect {
	return rect{max(a.x0, b.x0), max(a.y0, b.y0), min(a.x1, b.x1), min(a.y1, b.y1)}
}

func (a rect) with(b rect) rect {
	return rect{min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1)}
}

func (a rect) holds(x, y float64) bool { return x >= a.x0 && x <= a.x1 && y >= a.y0 && y <= a.y1 }

// color is red, green and blue from 0 to 1; the first value is negative if the color is unknown.
type color [3]float64

var (
	white   = color{1, 1, 1}
	unknown = color{-1, -1, -1}
)

// like reports whether the eye cannot tell two colors apart.
func (c color) like(o color) bool {
	for i := range c {
		if c[i] < 0 || o[i] < 0 || math.Abs(c[i]-o[i]) > 0.04 {
			return false
		}
	}
	return true
}

// look is the part of the graphics state that determines whether text can be seen.
type look struct {
	mode    int // text rendering mode
	fill    color
	through bool // fills are transparent
	clip    rect
}

// Text rendering modes.
const (
	modeFill = 0
	modeNone = 3
)

// shape is a part of a path.
type shape struct {
	rect
	corners int
	square  bool // it is a rectangle
	x, y    float64
}

// ground is an area painted before later text.
type ground struct {
	rect
	fill color
}

// maxGrounds is the maximum number of areas that are recorded for a page. Beyond it, all text counts as visible.
const maxGrounds = 20_000

// canvas records what a page shows beside text.
type canvas struct {
	path     []shape
	clips    bool // the path becomes part of the clipping path
	grounds  []ground
	fills    map[color]bool // colors of the grounds
	pictured float64        // area of all pictures
	marks    []bool         // open marked content: whether it belongs to a layer that is off
	off      int            // number of these that are
}

// box returns the bounding box of a rectangle that m maps.
func (m matrix) box(x0, y0, x1, y1 float64) rect {
	a, c := m.a*(x1-x0), m.c*(y1-y0)
	b, d := m.b*(x1-x0), m.d*(y1-y0)
	x, y := m.a*x0+m.c*y0+m.e, m.b*x0+m.d*y0+m.f
	return rect{x + min(0, a) + min(0, c), y + min(0, b) + min(0, d), x + max(0, a) + max(0, c), y + max(0, b) + max(0, d)}
}

// corner adds a point to the path; m begins a shape, and only the lines of l are straight.
func (r *renderer) corner(op operator, x, y float64) {
	at := r.state.ctm.box(x, y, x, y)
	if n := len(r.path); n > 0 && (op != "m" || n > maxGrounds) {
		s := &r.path[n-1]
		straight := op == "l" && (math.Abs(s.x-at.x0) < 0.5 || math.Abs(s.y-at.y0) < 0.5)
		s.rect, s.x, s.y, s.corners = s.with(at), at.x0, at.y0, s.corners+1
		s.square = s.square && straight && s.corners <= 5
		return
	}
	r.path = append(r.path, shape{at, 1, true, at.x0, at.y0})
}

// endPath fills the path if fill is set and applies it to the clipping path if W preceded.
func (r *renderer) endPath(fill bool) {
	if r.clips && len(r.path) > 0 {
		all := r.path[0].rect
		for _, s := range r.path {
			all = all.with(s.rect)
		}
		r.state.clip = r.state.clip.and(all)
	}
	for _, s := range r.path {
		if !fill {
			break
		}
		c := r.state.fill
		if !s.square || s.corners < 4 || r.state.through {
			c = unknown
		}
		r.ground(s.rect, c)
	}
	r.path, r.clips = r.path[:0], false
}

// ground records a painted area. Lines are not areas.
func (r *renderer) ground(box rect, c color) {
	if box = box.and(r.state.clip); r.off > 0 || box.x1-box.x0 < 2 || box.y1-box.y0 < 2 || len(r.grounds) > maxGrounds {
		return
	}
	r.grounds = append(r.grounds, ground{box, c})
	r.fills[c] = true
}

// picture records an image, which the current matrix maps from the unit square.
func (r *renderer) picture() {
	if r.off > 0 {
		return
	}
	box := r.state.ctm.box(0, 0, 1, 1)
	r.page.Pictures++
	r.ground(box, unknown)
	box = box.and(rect{0, 0, r.page.Width, r.page.Height})
	r.pictured += max(0, box.x1-box.x0) * max(0, box.y1-box.y0)
}

// doubtful reports whether text may have the color of a ground.
func (r *renderer) doubtful(l look) bool { return l.fill.like(white) || r.fills[l.fill] }

// unlike reports whether one of two looks may be visible and the other not.
func (r *renderer) unlike(a, b look) bool {
	return a.mode != b.mode || a.fill != b.fill && (r.doubtful(a) || r.doubtful(b))
}

// visible reports whether text in a box can be seen where it is drawn: inside the clipping path and, if it is only
// filled, in another color than its ground.
func (r *renderer) visible(box rect, l look) bool {
	shown := box.and(l.clip)
	if shown.x1-shown.x0 < 0.05*(box.x1-box.x0) || shown.y1-shown.y0 < 0.05*(box.y1-box.y0) {
		return false
	}
	if !r.doubtful(l) || l.mode != modeFill || len(r.grounds) > maxGrounds {
		return true
	}
	x, y := (box.x0+box.x1)/2, (box.y0+box.y1)/2
	for i := len(r.grounds) - 1; i >= 0; i-- {
		r.d.step()
		if g := r.grounds[i]; g.holds(x, y) {
			return !l.fill.like(g.fill)
		}
	}
	return !l.fill.like(white)
}

// graphics executes the operators that do not concern text.
func (r *renderer) graphics(op operator, args []any, res dict) {
	n := func(i int) float64 { return r.value(args, i) }
	s := &r.state
	if len(args) == 0 && (op == "cs" || op == "gs") {
		return
	}
	switch op {
	case "m", "l", "c", "v", "y":
		for i := 0; i+1 < len(args); i += 2 {
			r.corner(op, n(i), n(i+1))
		}
	case "re":
		x, y, w, h := n(0), n(1), n(2), n(3)
		r.corner("m", x, y)
		r.corner("l", x+w, y)
		r.corner("l", x+w, y+h)
		r.corner("l", x, y+h)
	case "W", "W*":
		r.clips = true
	case "f", "F", "f*", "B", "B*", "b", "b*":
		r.endPath(true)
	case "n", "S", "s":
		r.endPath(false)
	case "sh":
		r.ground(s.clip, unknown)
	case "g", "rg", "k":
		s.space = map[operator]int{"g": 1, "rg": 3, "k": 4}[op]
		s.fill = r.d.color(s.space, args)
	case "cs":
		s.space = r.colorSpace(args[0], res)
		s.fill = r.d.color(s.space, array{0, 0, 0, 1}[:max(s.space, 0)])
	case "sc", "scn":
		s.fill = r.d.color(s.space, args)
	case "gs":
		key, _ := args[0].(name)
		if alpha, ok := r.d.number(r.d.dict(r.d.dict(res["ExtGState"])[key])["ca"]); ok {
			s.through, s.gone = alpha < 1, alpha < 0.02
		}
	case "BMC", "BDC":
		key, _ := append(args, nil, nil)[1].(name)
		hidden := key != "" && args[0] == name("OC") && r.d.layerOff(r.d.dict(res["Properties"])[key])
		if r.marks = append(r.marks, hidden); hidden {
			r.off++
		}
	case "EMC":
		if k := len(r.marks) - 1; k >= 0 {
			if r.marks[k] {
				r.off--
			}
			r.marks = r.marks[:k]
		}
	}
}

// spot is the number of components that stands for spaces of inks, in which 0 is the color of the paper.
const spot = -1

// colorSpace returns the number of components of a color space with gray, RGB or CMYK values, spot, or 0 for others.
func (r *renderer) colorSpace(o any, res dict) int {
	key, ok := o.(name)
	if own := r.d.resolve(r.d.dict(res["ColorSpace"])[key]); ok && own != nil {
		o = own
	}
	var stream any
	if list := r.d.array(o); len(list) > 1 {
		o, stream = list[0], list[1]
	}
	switch r.d.name(o) {
	case "DeviceGray", "CalGray", "G":
		return 1
	case "DeviceRGB", "CalRGB", "RGB":
		return 3
	case "DeviceCMYK", "CMYK":
		return 4
	case "ICCBased":
		if n := r.d.int(r.d.dict(stream)["N"]); n == 1 || n == 3 || n == 4 {
			return n
		}
	case "Separation", "DeviceN":
		return spot
	}
	return 0
}

func (d *document) color(space int, args []any) color {
	var v [4]float64
	ink := false
	for i := range min(len(args), 4) {
		f, ok := d.number(args[i])
		if !ok {
			return unknown
		}
		v[i], ink = min(max(f, 0), 1), ink || f > 0.02
	}
	switch {
	case space == spot && !ink && len(args) > 0:
		return white
	case space == 1 && len(args) == 1:
		return color{v[0], v[0], v[0]}
	case space == 3 && len(args) == 3:
		return color(v[:3])
	case space == 4 && len(args) == 4:
		return color{(1 - v[0]) * (1 - v[3]), (1 - v[1]) * (1 - v[3]), (1 - v[2]) * (1 - v[3])}
	}
	return unknown
}

// layerOff reports whether content of a layer (optional content group, or a membership of several) is hidden.
func (d *document) layerOff(o any) bool {
	if o == nil {
		return false
	}
	config := d.dict(d.dict(d.dict(d.trailer["Root"])["OCProperties"])["D"])
	listed := func(key name, group any) bool {
		d.steps += len(d.array(config[key]))
		return slices.ContainsFunc(d.array(config[key]), func(g any) bool { _, ok := g.(ref); return ok && g == group })
	}
	groups := array{o}
	if member := d.dict(o); d.name(member["Type"]) == "OCMD" {
		if groups = d.array(member["OCGs"]); groups == nil {
			groups = array{member["OCGs"]}
		}
	}
	for _, g := range groups {
		if !listed("OFF", g) && (d.name(config["BaseState"]) != "OFF" || listed("ON", g)) {
			return false
		}
	}
	return len(groups) > 0
}

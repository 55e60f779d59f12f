package pdf

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// matrix maps (x, y) to (a*x+c*y+e, b*x+d*y+f).
type matrix struct{ a, b, c, d, e, f float64 }

var unit = matrix{a: 1, d: 1}

// then returns the matrix that applies m first and then n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// textState holds the parameters that q and Q save and restore.
type textState struct {
	ctm                matrix
	font               *font
	size, chars, words float64
	stretch            float64
	leading, rise      float64
	look
	space int  // components of the fill color space
	gone  bool // fills are wholly transparent
}

// renderer interprets pages without drawing them and records the positions of glyphs.
type renderer struct {
	d     *document
	fonts map[any]*font
	drawn map[*stream][]byte // decoded forms, cached because a letterhead is drawn on every page
	total int                // number of words on all pages
	shown int                // number of glyphs on all pages

	widgets map[int][]any // form fields by the number of their page; nil until needed

	page     *Page
	state    textState
	stack    []textState
	tm, line matrix
	word     *building
	veiled   []Word // words in the mode that shows nothing
	forms    int
	canvas
}

func newRenderer(d *document) *renderer {
	return &renderer{d: d, fonts: map[any]*font{}, drawn: map[*stream][]byte{}}
}

// pageOf reads one page.
func (r *renderer) pageOf(l leaf) Page {
	w, h := l.box[2]-l.box[0], l.box[3]-l.box[1]
	// Map page coordinates, with y upwards, to coordinates from the upper left corner of the rotated page.
	ctm := matrix{a: 1, d: -1, e: -l.box[0], f: l.box[3]}
	switch l.turn {
	case 90:
		ctm = ctm.then(matrix{b: 1, c: -1, e: h})
	case 180:
		ctm = ctm.then(matrix{a: -1, d: -1, e: w, f: h})
	case 270:
		ctm = ctm.then(matrix{b: -1, c: 1, f: w})
	}
	if l.turn == 90 || l.turn == 270 {
		w, h = h, w
	}
	r.page = &Page{Width: w, Height: h}
	r.state = textState{ctm: ctm, stretch: 1, space: 1, look: look{clip: rect{0, 0, w, h}}}
	r.stack, r.word, r.forms, r.veiled = nil, nil, 0, nil
	r.canvas = canvas{fills: map[color]bool{}}
	var content []byte
	for _, o := range r.d.list(l.dict["Contents"], nil) {
		if s, ok := r.d.resolve(o).(*stream); ok {
			content = append(append(content, r.d.decode(s)...), '\n')
		}
		if len(content) > maxStream {
			panic(stop{ErrTooLarge})
		}
	}
	r.run(content, l.res, 0)
	r.flush()
	if r.pictured >= w*h/2 { // a scan, whose text was recognised
		r.page.Words = append(r.page.Words, r.veiled...)
	}
	r.fields(l, ctm)
	return *r.page
}

// run interprets a content stream.
func (r *renderer) run(content []byte, res dict, depth int) {
	lex := &lexer{data: content}
	var args []any
	for {
		r.d.step()
		o := lex.object()
		switch v := o.(type) {
		case end:
			return
		case operator:
			if v == "BI" {
				skipImage(lex)
				r.picture()
			} else {
				r.do(v, args, res, depth)
			}
			args = args[:0]
		default:
			if len(args) < 64 {
				args = append(args, o)
			}
		}
	}
}

// skipImage skips an inline image, whose data end with EI between white space.
func skipImage(l *lexer) {
	i := bytes.Index(l.data[l.at:], []byte("ID"))
	if i < 0 {
		return
	}
	l.at += i + 2
	for {
		i := bytes.Index(l.data[l.at:], []byte("EI"))
		if i < 0 {
			l.at = len(l.data)
			return
		}
		at := l.at + i
		l.at = at + 2
		if at > 0 && space(l.data[at-1]) && (l.at >= len(l.data) || space(l.data[l.at])) {
			return
		}
	}
}

func (r *renderer) do(op operator, args []any, res dict, depth int) {
	n := func(i int) float64 { return r.value(args, i) }
	s := &r.state
	switch op {
	case "q":
		if len(r.stack) < 1000 {
			r.stack = append(r.stack, *s)
		}
	case "Q":
		if k := len(r.stack); k > 0 {
			*s, r.stack = r.stack[k-1], r.stack[:k-1]
		}
	case "cm":
		s.ctm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.then(s.ctm)
	case "BT":
		r.tm, r.line = unit, unit
	case "Tf":
		if len(args) == 2 {
			key, _ := args[0].(name)
			s.font, s.size = r.font(r.d.dict(res["Font"])[key]), n(1)
		}
	case "Tc":
		s.chars = n(0)
	case "Tw":
		s.words = n(0)
	case "Tz":
		s.stretch = n(0) / 100
	case "TL":
		s.leading = n(0)
	case "Ts":
		s.rise = n(0)
	case "Tr":
		s.mode = int(n(0))
	case "Td":
		r.move(n(0), n(1))
	case "TD":
		s.leading = -n(1)
		r.move(n(0), n(1))
	case "Tm":
		r.line = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}
		r.tm = r.line
	case "T*":
		r.move(0, -s.leading)
	case "'":
		r.move(0, -s.leading)
		r.show(args)
	case "\"":
		s.words, s.chars = n(0), n(1)
		r.move(0, -s.leading)
		if len(args) > 2 {
			r.show(args[2:])
		}
	case "Tj", "TJ":
		r.show(args)
	case "Do":
		if len(args) == 1 {
			key, _ := args[0].(name)
			r.paint(r.d.dict(res["XObject"])[key], res, depth)
		}
	default:
		r.graphics(op, args, res)
	}
}

// value returns an argument of an operator, or 0.
func (r *renderer) value(args []any, i int) float64 {
	if i >= len(args) {
		return 0
	}
	v, _ := r.d.number(args[i])
	return v
}

func (r *renderer) move(x, y float64) {
	r.line = matrix{a: 1, d: 1, e: x, f: y}.then(r.line)
	r.tm = r.line
}

// paint processes an external object: it runs the content stream of a form and counts images.
func (r *renderer) paint(o any, res dict, depth int) {
	x, ok := r.d.resolve(o).(*stream)
	if !ok || r.d.layerOff(x.dict["OC"]) {
		return
	}
	if r.d.name(x.dict["Subtype"]) == "Image" {
		r.picture()
		return
	}
	r.forms++
	if r.d.name(x.dict["Subtype"]) != "Form" || depth > 12 || r.forms > 2000 {
		return
	}
	saved, stack, tm, line, marks, off := r.state, r.stack, r.tm, r.line, r.marks, r.off
	r.stack, r.marks = nil, nil
	if m := r.d.array(x.dict["Matrix"]); len(m) == 6 {
		var v [6]float64
		for i := range v {
			v[i], _ = r.d.number(m[i])
		}
		r.state.ctm = matrix{v[0], v[1], v[2], v[3], v[4], v[5]}.then(r.state.ctm)
	}
	if own := r.d.dict(x.dict["Resources"]); own != nil {
		res = own
	}
	if b := r.d.array(x.dict["BBox"]); len(b) == 4 {
		box, _ := r.d.box(b)
		r.state.clip = r.state.clip.and(r.state.ctm.box(box[0], box[1], box[2], box[3]))
	}
	content, ok := r.drawn[x]
	if !ok {
		content = r.d.decode(x)
		r.drawn[x] = content
	}
	r.run(content, res, depth+1)
	r.state, r.stack, r.tm, r.line, r.marks, r.off = saved, stack, tm, line, marks, off
}

func (r *renderer) font(o any) *font {
	var key any
	switch v := o.(type) {
	case ref:
		key = v
	case dict: // a dictionary in the resources is the same map each time
		key = fmt.Sprintf("%p", v)
	default:
		return nil
	}
	f, ok := r.fonts[key]
	if !ok {
		f = fonts{r.d}.font(o)
		r.fonts[key] = f
	}
	return f
}

func (r *renderer) show(args []any) {
	if len(args) == 0 || r.state.font == nil {
		return
	}
	list, ok := args[0].(array)
	if !ok {
		list = args[:1]
	}
	s := &r.state
	for _, o := range list {
		switch v := o.(type) {
		case int:
			r.advance(-float64(v) / 1000 * s.size)
		case float64:
			r.advance(-v / 1000 * s.size)
		case text:
			s.font.glyphs(string(v), r.glyph)
		}
	}
}

// advance moves the text position along the line, in unscaled text units.
func (r *renderer) advance(by float64) {
	if r.state.font.vertical {
		r.tm = matrix{a: 1, d: 1, f: by}.then(r.tm)
	} else {
		r.tm = matrix{a: 1, d: 1, e: by * r.state.stretch}.then(r.tm)
	}
}

// building is the current word. Its glyphs span from (x0, y0) to (x1, y1) on the baseline.
type building struct {
	text           strings.Builder
	x0, y0, x1, y1 float64
	ux, uy         float64 // direction of the baseline
	size           float64
	font           *font
	look           look
}

// wordGap is the minimum gap between words, in font sizes.
const wordGap = 0.16

func (r *renderer) glyph(g glyph) {
	r.d.step()
	if r.shown++; r.shown > maxGlyphs {
		panic(stop{ErrTooLarge})
	}
	s := &r.state
	at := matrix{a: s.size * s.stretch, d: s.size, f: s.rise}.then(r.tm).then(s.ctm)
	size := math.Hypot(at.c, at.d)
	ux, uy := at.a, at.b
	if s.font.vertical {
		ux, uy = -at.c, -at.d
	}
	long := math.Hypot(ux, uy)
	advance := g.width*s.size + s.chars
	if g.space {
		advance += s.words
	}
	switch {
	case size < 0.1 || long < 0.01 || size > 5000 || math.IsNaN(size+long+at.e+at.f):
	case strings.TrimSpace(g.text) == "" && g.text != "", r.off > 0, s.gone && s.mode == modeFill:
		r.flush()
	default:
		ux, uy = ux/long, uy/long
		w := g.width * long
		if s.font.vertical {
			w = size
		}
		if b := r.word; b == nil || r.unlike(b.look, s.look) || !b.goesOn(at.e, at.f, ux, uy, size) {
			r.flush()
			r.word = &building{x0: at.e, y0: at.f, ux: ux, uy: uy, size: size, font: s.font, look: s.look}
		}
		if g.text == "" {
			g.text = "\ufffd"
		}
		r.word.text.WriteString(g.text)
		r.word.x1, r.word.y1 = at.e+ux*w, at.f+uy*w
		if r.word.text.Len() > 1000 {
			r.flush()
		}
	}
	if s.font.vertical {
		r.advance(-(s.size + s.chars))
	} else {
		r.advance(advance)
	}
}

// goesOn reports whether a glyph at (x, y) continues the word.
func (b *building) goesOn(x, y, ux, uy, size float64) bool {
	if b.ux*ux+b.uy*uy < 0.99 || size > b.size*1.3 || size < b.size/1.3 {
		return false
	}
	dx, dy := x-b.x1, y-b.y1
	along, across := dx*b.ux+dy*b.uy, dx*b.uy-dy*b.ux
	return math.Abs(across) < 0.15*b.size && along < wordGap*b.size && along > -0.4*b.size
}

// flush ends the current word.
func (r *renderer) flush() {
	b := r.word
	r.word = nil
	if b == nil {
		return
	}
	// Ascenders reach about 0.75 above the baseline and descenders 0.25 below. "Above" is perpendicular to the direction.
	vx, vy := b.uy, -b.ux
	xs := [4]float64{b.x0 + vx*0.75*b.size, b.x1 + vx*0.75*b.size, b.x0 - vx*0.25*b.size, b.x1 - vx*0.25*b.size}
	ys := [4]float64{b.y0 + vy*0.75*b.size, b.y1 + vy*0.75*b.size, b.y0 - vy*0.25*b.size, b.y1 - vy*0.25*b.size}
	w := Word{
		Text: b.text.String(), Bold: b.font.bold, Mono: b.font.mono, Turn: turnOf(b.ux, b.uy),
		X0: min(xs[0], xs[1], xs[2], xs[3]), X1: max(xs[0], xs[1], xs[2], xs[3]),
		Y0: min(ys[0], ys[1], ys[2], ys[3]), Y1: max(ys[0], ys[1], ys[2], ys[3]),
	}
	if !r.visible(rect{w.X0, w.Y0, w.X1, w.Y1}, b.look) {
		return
	}
	if r.total++; r.total > maxWords {
		panic(stop{ErrTooLarge})
	}
	if b.look.mode == modeNone {
		r.veiled = append(r.veiled, w)
		return
	}
	r.page.Words = append(r.page.Words, w)
}

// turnOf returns Word.Turn for a direction.
func turnOf(ux, uy float64) int {
	switch {
	case ux > 0.99:
		return 0
	case uy > 0.99:
		return 90
	case ux < -0.99:
		return 180
	case uy < -0.99:
		return 270
	}
	return -1
}

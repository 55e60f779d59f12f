package pdf

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// hiddenFlags are the flags of annotations that are not shown.
const hiddenFlags = 1<<1 | 1<<5

// widgets returns the fields of the form that state their page, by its object number.
func (d *document) widgets() map[int][]any {
	out, seen := map[int][]any{}, map[ref]bool{}
	var walk func(list array)
	walk = func(list array) {
		for _, o := range list {
			d.step()
			if r, ok := o.(ref); ok && !seen[r] {
				seen[r] = true
				field := d.dict(r)
				if p, ok := field["P"].(ref); ok {
					out[p.num] = append(out[p.num], o)
				}
				walk(d.array(field["Kids"]))
			}
		}
	}
	walk(d.array(d.dict(d.dict(d.trailer["Root"])["AcroForm"])["Fields"]))
	return out
}

// fields adds the values of the form fields of a page.
func (r *renderer) fields(l leaf, ctm matrix) {
	if r.widgets == nil {
		r.widgets = r.d.widgets()
	}
	seen, below := map[any]bool{}, r.page.Height
	for _, o := range append(r.widgets[l.num], r.d.array(l.dict["Annots"])...) {
		id, isRef := o.(ref)
		field := r.d.dict(o)
		if isRef && seen[id] || field["Rect"] == nil || r.d.int(field["F"])&hiddenFlags != 0 {
			continue
		}
		seen[id] = true
		if value := r.d.fieldValue(field); value != "" {
			b, _ := r.d.box(field["Rect"])
			box := ctm.box(b[0], b[1], b[2], b[3])
			if r.covered(box) { // it would be read between the letters of other text
				box.y0, box.y1 = below, below+box.y1-box.y0
				below = box.y1 + 20
			}
			r.write(value, box)
		}
	}
}

// covered reports whether a box contains text of the page.
func (r *renderer) covered(box rect) bool {
	return slices.ContainsFunc(r.page.Words, func(w Word) bool {
		r.d.step()
		return box.holds((w.X0+w.X1)/2, (w.Y0+w.Y1)/2)
	})
}

// fieldValue returns what a form field shows; a box that is ticked shows ☒.
func (d *document) fieldValue(field dict) string {
	inherited := func(key name) any {
		f := field
		for depth := 0; f != nil && f[key] == nil && depth < maxDepth; depth++ {
			f = d.dict(f["Parent"])
		}
		return d.resolve(f[key])
	}
	var values []string
	switch inherited("FT") {
	case name("Tx"), name("Ch"):
		v := inherited("V")
		for _, o := range append(d.array(v), v) {
			if t := d.text(o); t != "" {
				values = append(values, t)
			}
		}
	case name("Btn"):
		if state := d.name(field["AS"]); state != "" && state != "Off" {
			return "☒"
		}
	}
	return strings.Join(values, ", ")
}

// write sets words into a box, in lines of 10 points or less.
func (r *renderer) write(value string, box rect) {
	width := max(8, int((box.x1-box.x0)/5)) // in characters
	lines, length := [][]string{nil}, 0
	for paragraph := range strings.Lines(strings.ReplaceAll(value, "\r", "\n")) {
		for _, word := range strings.Fields(paragraph) {
			if n := utf8.RuneCountInString(word) + 1; length > 0 && length+n > width {
				lines, length = append(lines, nil), n
			} else {
				length += n
			}
			lines[len(lines)-1] = append(lines[len(lines)-1], word)
		}
		length = width
	}
	size := max(2, min(10, (box.y1-box.y0)/float64(len(lines))))
	y := (box.y0 + box.y1 - size*float64(len(lines))) / 2
	for _, line := range lines {
		x := box.x0
		for _, word := range line {
			w := Word{Text: word, X0: x, X1: x + size/2*float64(utf8.RuneCountInString(word)), Y0: y, Y1: y + size}
			if x = w.X1 + size/2; r.total > maxWords {
				panic(stop{ErrTooLarge})
			}
			r.total++
			r.page.Words = append(r.page.Words, w)
		}
		y += size
	}
}

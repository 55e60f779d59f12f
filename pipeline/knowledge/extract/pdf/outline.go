package pdf

import (
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// leaf is a page of the page tree with its inherited attributes.
type leaf struct {
	num  int // object number; 0 for a page stored directly in the tree
	dict dict
	res  dict
	box  [4]float64
	turn int // degrees clockwise: 0, 90, 180, 270
}

func (d *document) pageTree() []leaf {
	var out []leaf
	seen := map[int]bool{}
	var walk func(o any, from leaf, depth int)
	walk = func(o any, from leaf, depth int) {
		l := from
		l.num = 0
		if r, ok := o.(ref); ok {
			if seen[r.num] {
				return
			}
			seen[r.num] = true
			l.num = r.num
		}
		l.dict = d.dict(o)
		if l.dict == nil || depth > maxDepth || len(out) >= maxPages {
			return
		}
		d.step()
		d.inherit(&l)
		kids := d.array(l.dict["Kids"])
		if kids == nil {
			out = append(out, l)
		}
		for _, k := range kids {
			walk(k, l, depth+1)
		}
	}
	start := leaf{box: [4]float64{0, 0, 612, 792}}
	walk(d.dict(d.trailer["Root"])["Pages"], start, 0)
	if len(out) > 0 {
		return out
	}
	for _, num := range sortedKeys(d.place) { // without a usable tree, return pages in order of object numbers
		if l := (leaf{num: num, dict: d.dict(ref{num: num}), box: start.box}); l.dict["Type"] == name("Page") &&
			len(out) < maxPages {
			d.inherit(&l)
			out = append(out, l)
		}
	}
	return out
}

func (d *document) inherit(l *leaf) {
	if r := d.dict(l.dict["Resources"]); r != nil {
		l.res = r
	}
	for _, key := range []name{"MediaBox", "CropBox"} {
		b, ok := d.box(l.dict[key])
		if w, h := b[2]-b[0], b[3]-b[1]; ok && min(w, h) > 1 && max(w, h) < 1e6 {
			l.box = b
		}
	}
	if turn, ok := d.number(l.dict["Rotate"]); ok {
		l.turn = ((int(turn)/90*90)%360 + 360) % 360
	}
}

// box reads a rectangle: left, bottom, right, top.
func (d *document) box(o any) (b [4]float64, ok bool) {
	list := d.array(o)
	if len(list) != 4 {
		return b, false
	}
	for i, v := range list {
		b[i], _ = d.number(v)
	}
	return [4]float64{min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])}, true
}

// info reads the metadata and the outline.
func (d *document) info(pages []leaf) Info {
	out := Info{Pages: len(pages)}
	meta := d.dict(d.trailer["Info"])
	out.Title, out.Author = d.text(meta["Title"]), d.text(meta["Author"])
	if m, ok := d.resolve(d.dict(d.trailer["Root"])["Metadata"]).(*stream); ok && len(m.raw) <= maxMetadata {
		if packet := d.decode(m); len(packet) <= maxMetadata {
			out.Metadata = packet
		}
	}
	if created := strings.TrimPrefix(d.text(meta["CreationDate"]), "D:"); len(created) >= 8 &&
		strings.Trim(created[:8], "0123456789") == "" {
		out.Created = created[:8]
	}
	number := map[int]int{}
	for i, l := range pages {
		number[l.num] = i + 1
	}
	delete(number, 0)
	o := outline{d: d, number: number, visited: map[int]bool{}}
	o.walk(d.dict(d.dict(d.trailer["Root"])["Outlines"])["First"], 1)
	out.Bookmarks = o.out
	return out
}

type outline struct {
	d       *document
	number  map[int]int // page number by object number
	visited map[int]bool
	named   map[string]any
	out     []Bookmark
}

func (o *outline) walk(item any, level int) {
	for range 50_000 {
		r, ok := item.(ref)
		if !ok || o.visited[r.num] || level > 12 || len(o.out) > 50_000 {
			return
		}
		o.visited[r.num] = true
		o.d.step()
		e := o.d.dict(r)
		if e == nil {
			return
		}
		if title := strings.TrimSpace(o.d.text(e["Title"])); title != "" {
			o.out = append(o.out, Bookmark{Level: level, Title: title, Page: o.target(e)})
		}
		o.walk(e["First"], level+1)
		item = e["Next"]
	}
}

// target returns the page number of an outline entry, or 0 if it is unknown.
func (o *outline) target(e dict) int {
	dest := o.d.resolve(e["Dest"])
	if dest == nil {
		if a := o.d.dict(e["A"]); o.d.name(a["S"]) == "GoTo" {
			dest = o.d.resolve(a["D"])
		}
	}
	switch v := dest.(type) {
	case text:
		dest = o.lookup(string(v))
	case name:
		dest = o.lookup(string(v))
	}
	if in, ok := dest.(dict); ok {
		dest = o.d.resolve(in["D"])
	}
	list, _ := dest.(array)
	if len(list) == 0 {
		return 0
	}
	switch v := list[0].(type) {
	case ref:
		return o.number[v.num]
	case int:
		return v + 1
	}
	return 0
}

// lookup returns the named destination.
func (o *outline) lookup(key string) any {
	if o.named == nil {
		o.named = map[string]any{}
		root := o.d.dict(o.d.trailer["Root"])
		for k, v := range o.d.dict(root["Dests"]) {
			o.named[string(k)] = v
		}
		o.names(o.d.dict(root["Names"])["Dests"], map[int]bool{}, 0)
	}
	return o.d.resolve(o.named[key])
}

func (o *outline) names(node any, seen map[int]bool, depth int) {
	if r, ok := node.(ref); ok {
		if seen[r.num] {
			return
		}
		seen[r.num] = true
	}
	n := o.d.dict(node)
	if n == nil || depth > maxDepth {
		return
	}
	o.d.step()
	list := o.d.array(n["Names"])
	for i := 0; i+1 < len(list); i += 2 {
		if k, ok := o.d.resolve(list[i]).(text); ok {
			o.named[string(k)] = list[i+1]
		}
	}
	for _, k := range o.d.array(n["Kids"]) {
		o.names(k, seen, depth+1)
	}
}

// text decodes a text string to UTF-8 from UTF-16, marked UTF-8, or PDFDocEncoding, which is nearly Windows-1252.
func (d *document) text(o any) string {
	t, _ := d.resolve(o).(text)
	s := string(t)
	switch {
	case strings.HasPrefix(s, "\xfe\xff"), strings.HasPrefix(s, "\xff\xfe"):
		return fromUTF16(s[2:], s[0] == 0xff)
	case strings.HasPrefix(s, "\xef\xbb\xbf"):
		return strings.ToValidUTF8(s[3:], "\ufffd")
	}
	out, _ := charmap.Windows1252.NewDecoder().String(s)
	return out
}

func fromUTF16(s string, little bool) string {
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		if little {
			units = append(units, uint16(s[i])|uint16(s[i+1])<<8)
		} else {
			units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
		}
	}
	return string(utf16.Decode(units))
}

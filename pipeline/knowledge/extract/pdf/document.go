package pdf

import (
	"bytes"
	"fmt"
	"slices"
)

// document holds the objects of a file: their positions, their decoded values, and the resources used so far.
type document struct {
	data    []byte
	stopped func() error // returns why reading must stop; nil to continue
	place   map[int]place
	cache   map[int]any
	busy    map[int]bool
	trailer dict
	cipher  *cipher
	decoded int // bytes decoded so far
	steps   int
	asked   int // value of steps at the last call of stopped
}

// place is the position of an object in the file or in an object stream.
type place struct {
	at   int    // byte offset in the file; for an object in an object stream, the offset of that stream
	gen  int    // generation number
	body []byte // data after "1 0 obj", or the object itself from an object stream
	in   bool   // in an object stream, where strings are not encrypted separately
}

func newDocument(data []byte, stopped func() error) *document {
	return &document{data: data, stopped: stopped, place: map[int]place{}, cache: map[int]any{}, busy: map[int]bool{}}
}

// step counts work and stops reading when stopped returns an error.
func (d *document) step() {
	if d.steps++; d.steps-d.asked < 4096 {
		return
	}
	d.asked = d.steps
	if err := d.stopped(); err != nil {
		panic(stop{err})
	}
}

// scan finds all objects. The last definition of an object number is used, because updates are appended.
func (d *document) scan() error {
	var containers []int // object streams
	for at := 0; ; {
		i := bytes.Index(d.data[at:], []byte("obj"))
		if i < 0 {
			break
		}
		i += at
		at = i + 3
		d.step()
		num, gen, ok := header(d.data, i)
		if !ok {
			continue
		}
		d.place[num] = place{at: i, gen: gen, body: d.data[at:]}
	}
	d.trailers()
	if e := d.resolve(d.trailer["Encrypt"]); e != nil {
		c, err := newCipher(d, e)
		if err != nil {
			return err
		}
		d.cipher = c
		clear(d.cache) // objects read so far were not decrypted
	}
	for at := 0; ; {
		i := bytes.Index(d.data[at:], []byte("/ObjStm"))
		if i < 0 {
			break
		}
		i += at
		at = i + 7
		if num, ok := d.owner(i); ok {
			containers = append(containers, num)
		}
	}
	for _, num := range containers {
		d.unpack(num)
	}
	if d.dict(d.trailer["Root"])["Pages"] == nil {
		d.findRoot()
	}
	if len(d.place) == 0 {
		return fmt.Errorf("%w: no object is left", ErrDamaged)
	}
	return nil
}

// header reads the object and generation numbers ("12 0 ") before "obj" at i.
func header(data []byte, i int) (num, gen int, ok bool) {
	back := func() (int, bool) {
		j := i
		for j > 0 && space(data[j-1]) {
			j--
		}
		if j == i {
			return 0, false
		}
		k := j
		for k > 0 && j-k < 10 && data[k-1] >= '0' && data[k-1] <= '9' {
			k--
		}
		n := 0
		for _, c := range data[k:j] {
			n = n*10 + int(c-'0')
		}
		i = k
		return n, k < j
	}
	if gen, ok = back(); !ok {
		// "0obj" without a space does not occur in practice
		return 0, 0, false
	}
	num, ok = back()
	return num, gen, ok
}

// owner returns the number of the object that contains byte i of the file: the last "12 0 obj" before it.
func (d *document) owner(i int) (int, bool) {
	d.steps += 16
	d.step()
	from := max(0, i-8192)
	for stop := i; ; {
		j := bytes.LastIndex(d.data[from:stop], []byte("obj"))
		if j < 0 {
			return 0, false
		}
		if num, _, ok := header(d.data, from+j); ok {
			return num, d.place[num].at == from+j
		}
		stop = from + j
	}
}

// trailers merges the trailers. For each key, the last value is used. Cross-reference streams have the same keys.
func (d *document) trailers() {
	d.trailer = dict{}
	merge := func(o any) {
		t, _ := o.(dict)
		if s, ok := o.(*stream); ok {
			t = s.dict
		}
		for _, key := range []name{"Root", "Info", "Encrypt", "ID"} {
			if v, ok := t[key]; ok {
				d.trailer[key] = v
			}
		}
	}
	for _, at := range d.last("/XRef") {
		if num, ok := d.owner(at); ok {
			merge(d.resolve(ref{num: num}))
		}
	}
	for _, at := range d.last("trailer") {
		rest := d.data[at+len("trailer") : min(len(d.data), at+1<<16)]
		if bytes.HasPrefix(bytes.TrimLeft(rest[:min(len(rest), 64)], "\r\n\t "), []byte("<<")) {
			merge((&lexer{data: rest, refs: true}).object())
		}
	}
}

// last returns the offsets of a mark in ascending order, at most the last 500, because updates are appended.
func (d *document) last(mark string) []int {
	var out []int
	for stop := len(d.data); len(out) < 500; {
		i := bytes.LastIndex(d.data[:stop], []byte(mark))
		if i < 0 {
			break
		}
		out = append(out, i)
		stop = i
	}
	slices.Reverse(out)
	return out
}

// findRoot searches for a catalogue if the trailer refers to none.
func (d *document) findRoot() {
	for num := range d.place {
		if c := d.dict(ref{num: num}); c["Type"] == name("Catalog") && c["Pages"] != nil {
			d.trailer["Root"] = ref{num: num}
			return
		}
	}
}

// unpack registers the objects of an object stream.
func (d *document) unpack(num int) {
	s, ok := d.resolve(ref{num: num}).(*stream)
	if !ok || s.dict["Type"] != name("ObjStm") {
		return
	}
	data := d.decode(s)
	n, first := d.int(s.dict["N"]), d.int(s.dict["First"])
	l := &lexer{data: data}
	for range min(n, len(data)/4+1) {
		id, ok1 := l.object().(int)
		off, ok2 := l.object().(int)
		if !ok1 || !ok2 || off < 0 {
			break
		}
		if first+off < 0 || first+off >= len(data) {
			break
		}
		if old, had := d.place[id]; !had || old.at <= d.place[num].at {
			d.place[id] = place{at: d.place[num].at, body: data[first+off:], in: true}
			delete(d.cache, id)
		}
	}
}

// resolve follows references and returns their target, or nil if it does not exist.
func (d *document) resolve(o any) any {
	for range maxDepth {
		r, ok := o.(ref)
		if !ok {
			return o
		}
		o = d.object(r.num)
	}
	return nil
}

func (d *document) object(num int) any {
	if o, ok := d.cache[num]; ok {
		return o
	}
	p, ok := d.place[num]
	if !ok || d.busy[num] || len(d.busy) > 4*maxDepth {
		return nil
	}
	d.step()
	d.busy[num] = true
	defer delete(d.busy, num)
	l := &lexer{data: p.body, refs: true}
	o := l.object()
	d.steps += l.at / 64 // a malformed array may extend to the end of the file
	switch v := o.(type) {
	case operator, end:
		o = nil
	case dict:
		if s := d.streamAfter(l, v); s != nil && !p.in {
			s.id = ref{num, p.gen}
			o = s
		}
	}
	if d.cipher != nil && !p.in {
		o = d.cipher.strings(o, ref{num, p.gen}, 0)
	}
	d.cache[num] = o
	return o
}

// streamAfter returns the stream that follows its dictionary, or nil if there is none.
func (d *document) streamAfter(l *lexer, head dict) *stream {
	l.blanks()
	if !bytes.HasPrefix(l.data[l.at:], []byte("stream")) {
		return nil
	}
	at := l.at + 6
	if at < len(l.data) && l.data[at] == '\r' {
		at++
	}
	if at < len(l.data) && l.data[at] == '\n' {
		at++
	}
	rest := l.data[at:]
	n := d.int(head["Length"])
	if n < 0 || n > len(rest) || !bytes.HasPrefix(bytes.TrimLeft(rest[n:min(len(rest), n+16)], "\r\n\t "),
		[]byte("endstream")) {
		if n = bytes.Index(rest, []byte("endstream")); n < 0 {
			n = len(rest)
		}
	}
	return &stream{dict: head, raw: rest[:n]}
}

func (d *document) dict(o any) dict {
	switch v := d.resolve(o).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (d *document) array(o any) array {
	a, _ := d.resolve(o).(array)
	return a
}

func (d *document) name(o any) name {
	n, _ := d.resolve(o).(name)
	return n
}

func (d *document) int(o any) int {
	switch v := d.resolve(o).(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

func (d *document) number(o any) (float64, bool) {
	switch v := d.resolve(o).(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

package extract

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
)

// Limits for one element passed by eachElement: the elements in it, and their nesting depth. Deeper ones are dropped.
const (
	maxElements     = 1 << 20
	maxElementDepth = 100
)

// element is an XML element. Names have no namespace; of attributes with the same name, that in a namespace counts.
type element struct {
	name string
	attr map[string]string
	kids []*element
	text string // directly in it
}

// ignored are elements that repeat something in another form: a drawing for old programs, and former properties.
var ignored = set("Fallback pPrChange rPrChange sectPr")

// eachElement calls use for each element of an XML file with one of the names, except those inside another such
// element. The error is that of the decoder, or ErrTooLarge; use has then been called for the elements before it.
func eachElement(data []byte, names map[string]bool, use func(*element)) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false // safe, because the decoder never loads external entities
	d.CharsetReader = charset.NewReaderLabel
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case ignored[start.Name.Local]:
			err = d.Skip()
		case names[start.Name.Local]:
			var e *element
			left := maxElements
			if e, err = readElement(d, start, maxElementDepth, &left); err == nil {
				use(e)
			}
		}
		if err != nil {
			return err
		}
	}
}

// readElement reads the content of an element. left is the number of elements that may follow.
func readElement(d *xml.Decoder, start xml.StartElement, depth int, left *int) (*element, error) {
	e := &element{name: start.Name.Local}
	for _, a := range start.Attr {
		if e.attr == nil {
			e.attr = map[string]string{}
		}
		if e.attr[a.Name.Local] == "" || a.Name.Space != "" {
			e.attr[a.Name.Local] = a.Value
		}
	}
	var text strings.Builder
	for {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.EndElement:
			e.text = text.String()
			return e, nil
		case xml.CharData:
			text.Write(t)
		case xml.StartElement:
			if depth == 0 || ignored[t.Name.Local] {
				if err := d.Skip(); err != nil {
					return nil, err
				}
				continue
			}
			if *left--; *left < 0 {
				return nil, ErrTooLarge
			}
			kid, err := readElement(d, t, depth-1, left)
			if err != nil {
				return nil, err
			}
			e.kids = append(e.kids, kid)
		}
	}
}

// find returns the first element below e with this name, in document order; an empty element if there is none.
func (e *element) find(name string) *element {
	found := &element{}
	e.visit(func(k *element) bool {
		if found.name == "" && k.name == name {
			found = k
		}
		return found.name == ""
	})
	return found
}

// all returns the elements below e with this name, except those inside another such element.
func (e *element) all(name string) (all []*element) {
	e.visit(func(k *element) bool {
		if k.name == name {
			all = append(all, k)
		}
		return k.name != name
	})
	return all
}

// visit calls use for each element below e, in document order. If use returns false, it omits what is in the element.
func (e *element) visit(use func(*element) bool) {
	for _, k := range e.kids {
		if use(k) {
			k.visit(use)
		}
	}
}

// val returns the attribute val of the first element below e with this name.
func (e *element) val(name string) string { return e.find(name).attr["val"] }

// number returns val as a number from -1 to a million, else def.
func (e *element) number(name string, def int) int { return number(e.val(name), def) }

func number(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 || n > 1<<20 {
		return def
	}
	return n
}

// texts yields the text directly in e and in each element below it.
func (e *element) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		more := yield(e.text)
		e.visit(func(k *element) bool {
			more = more && yield(k.text)
			return more
		})
	}
}

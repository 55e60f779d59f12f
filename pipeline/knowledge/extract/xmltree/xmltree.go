// Package xmltree reads the elements of an XML file one after the other, each as a tree of bounded size.
package xmltree

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"nightdesk/pipeline/knowledge/extract/document"
)

// Limits for one element passed by Each: the elements in it, and their nesting depth. Deeper ones are dropped.
const (
	maxElements     = 1 << 20
	maxElementDepth = 100
)

// Element is an XML element, or with an empty name the text between two elements. Names have no namespace; of
// attributes with the same name, that in a namespace counts.
type Element struct {
	Name string
	Attr map[string]string
	Kids []*Element
	Text string // of an element without others in it
}

// ignored are elements that repeat something in another form: a drawing for old programs, and former properties.
var ignored = document.Set("Fallback pPrChange rPrChange sectPr")

// Each calls use for each element of an XML file with one of the names, except those inside another such
// element. The error is that of the decoder, or ErrTooLarge; use has then been called for the elements before it.
func Each(data []byte, names map[string]bool, use func(*Element)) error {
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
			var e *Element
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
func readElement(d *xml.Decoder, start xml.StartElement, depth int, left *int) (*Element, error) {
	e := &Element{Name: start.Name.Local}
	for _, a := range start.Attr {
		if e.Attr == nil {
			e.Attr = map[string]string{}
		}
		if e.Attr[a.Name.Local] == "" || a.Name.Space != "" {
			e.Attr[a.Name.Local] = a.Value
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
			if e.Kids == nil {
				e.Text = text.String()
				return e, nil
			}
			e.addText(&text)
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
				return nil, document.ErrTooLarge
			}
			e.addText(&text)
			kid, err := readElement(d, t, depth-1, left)
			if err != nil {
				return nil, err
			}
			e.Kids = append(e.Kids, kid)
		}
	}
}

// addText adds the text before the next element or the end.
func (e *Element) addText(text *strings.Builder) {
	if text.Len() > 0 {
		e.Kids = append(e.Kids, &Element{Text: text.String()})
		text.Reset()
	}
}

// Find returns the first element below e with this name, in document order; an empty element if there is none.
func (e *Element) Find(name string) *Element {
	found := &Element{}
	e.Visit(func(k *Element) bool {
		if found.Name == "" && k.Name == name {
			found = k
		}
		return found.Name == ""
	})
	return found
}

// Child returns the first element directly in e with this name; an empty element if there is none.
func (e *Element) Child(name string) *Element {
	for _, k := range e.Kids {
		if k.Name == name {
			return k
		}
	}
	return &Element{}
}

// All returns the elements below e with this name, except those inside another such element.
func (e *Element) All(name string) (all []*Element) {
	e.Visit(func(k *Element) bool {
		if k.Name == name {
			all = append(all, k)
		}
		return k.Name != name
	})
	return all
}

// Visit calls use for each element below e, in document order. If use returns false, it omits what is in the element.
func (e *Element) Visit(use func(*Element) bool) {
	for _, k := range e.Kids {
		if use(k) {
			k.Visit(use)
		}
	}
}

// Val returns the attribute val of the first element below e with this name.
func (e *Element) Val(name string) string { return e.Find(name).Attr["val"] }

// Number returns val as a number from -1 to a million, else def.
func (e *Element) Number(name string, def int) int { return Number(e.Val(name), def) }

// Number returns s as a number from -1 to a million, else def.
func Number(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 || n > 1<<20 {
		return def
	}
	return n
}

// Texts yields the text directly in e and in each element below it.
func (e *Element) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		more := yield(e.Text)
		e.Visit(func(k *Element) bool {
			more = more && yield(k.Text)
			return more
		})
	}
}

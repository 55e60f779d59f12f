package extract

import (
	"encoding/xml"
	"strings"
)

// docxStyle holds the structural properties of a paragraph style.
type docxStyle struct {
	name    string // lower case; English for built-in styles, regardless of Word's language
	parent  string
	outline int // 0 for level 1; -1 if not set
	list    string
	level   int // level in the list; -1 if not set
}

type docxStyles map[string]docxStyle

// styles reads the paragraph styles, keyed by id.
func (f *archive) styles(name string) (docxStyles, error) {
	d, err := f.open(name)
	if d == nil || err != nil {
		return nil, err
	}
	out := docxStyles{}
	id := ""
	err = elements(d, func(e xml.StartElement) {
		s := out[id]
		switch e.Name.Local {
		case "style":
			id = attr(e, "styleId")
			s = docxStyle{outline: -1, level: -1}
		case "name":
			s.name = strings.ToLower(attr(e, "val"))
		case "basedOn":
			s.parent = attr(e, "val")
		case "outlineLvl":
			s.outline = atoi(attr(e, "val"), -1)
		case "numId":
			s.list = attr(e, "val")
		case "ilvl":
			s.level = atoi(attr(e, "val"), -1)
		default:
			return
		}
		if id != "" {
			out[id] = s
		}
	})
	if err != nil {
		return nil, damage(err)
	}
	return out, nil
}

// whole returns a style with the properties inherited from its base styles.
func (s docxStyles) whole(id string) docxStyle {
	out, ok := s[id]
	if !ok {
		return docxStyle{name: strings.ToLower(id), outline: -1, level: -1}
	}
	if out.outline < 0 { // "heading 2" is a heading even if the outline level is missing
		if n, ok := strings.CutPrefix(out.name, "heading "); ok {
			out.outline = atoi(n, 0) - 1
		}
	}
	for at, depth := out.parent, 0; at != "" && depth < 20; depth++ {
		p := s[at]
		if out.outline < 0 {
			out.outline = p.outline
		}
		if out.list == "" {
			out.list = p.list
		}
		if out.level < 0 {
			out.level = p.level
		}
		at = p.parent
	}
	return out
}

func (s docxStyle) code() bool {
	switch s.name {
	case "source code", "sourcecode", "code", "code block", "html preformatted", "macro text", "macro",
		"preformatted text", "preformatted_20_text", "listing":
		return true
	}
	return false
}

// contents reports whether a style is used for entries of a table of contents, table of figures or index.
func (s docxStyle) contents() bool {
	return strings.HasPrefix(s.name, "toc ") || s.name == "toc heading" || s.name == "table of figures" ||
		strings.HasPrefix(s.name, "index ")
}

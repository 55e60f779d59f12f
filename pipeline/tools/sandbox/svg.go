package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
	maxDepth   = 64
	pngData    = "data:image/png;base64,"
)

// Elements and attributes that a drawing may have. All others are removed with their content: scripts, foreign objects,
// animations, links, metadata, filters that fetch.
var (
	svgElements = words(`svg g path rect circle ellipse line polyline polygon text tspan title desc defs use symbol marker
		clipPath mask pattern linearGradient radialGradient stop style image`)
	svgAttributes = words(`id class style transform viewBox preserveAspectRatio version width height x y x1 y1 x2 y2 cx
		cy r rx ry dx dy fx fy d points pathLength rotate lengthAdjust textLength fill fill-opacity fill-rule stroke
		stroke-width stroke-opacity stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit
		opacity color display visibility overflow font font-family font-size font-style font-weight font-variant
		font-stretch letter-spacing word-spacing text-anchor text-decoration text-rendering dominant-baseline
		alignment-baseline baseline-shift writing-mode direction marker-start marker-end markerWidth markerHeight
		markerUnits refX refY orient clip-path clip-rule clipPathUnits mask maskUnits maskContentUnits patternUnits
		patternContentUnits patternTransform gradientUnits gradientTransform spreadMethod offset stop-color stop-opacity
		href shape-rendering image-rendering vector-effect paint-order type`)
	ownReference = regexp.MustCompile(`^#[A-Za-z_][\w.:-]*$`)
	ownURL       = regexp.MustCompile(`(?i)url\(\s*["']?#([A-Za-z_][\w.:-]*)["']?\s*\)`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// CleanSVG rewrites an SVG picture with only what a drawing needs. It removes scripts, events and outside references,
// and rejects parts drawn so often that rendering never ends. The error says why body is not a picture. The result is
// UTF-8, and another CleanSVG does not change it. Show it as a separate picture: inside another page, its style sheets
// and ids would apply to that page.
func CleanSVG(body []byte) ([]byte, error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	c := cleaner{parts: newParts()}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not an SVG picture: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := c.start(t); err != nil {
				return nil, err
			}
		case xml.EndElement:
			c.end()
		case xml.CharData:
			c.text(string(t))
		}
	}
	if !c.drawn {
		return nil, errors.New("not an SVG picture: it is empty")
	}
	return c.out.Bytes(), c.parts.check()
}

// cleaner is the state of cleaning one picture.
type cleaner struct {
	out   bytes.Buffer
	open  []string // elements that are written and not yet closed
	skip  int      // depth inside a removed element
	drawn bool
	css   strings.Builder // text of the open style; comments and elements could split it into harmless-looking pieces
	parts *parts
}

func (c *cleaner) inStyle() bool { return len(c.open) > 0 && c.open[len(c.open)-1] == "style" }

func (c *cleaner) start(t xml.StartElement) error {
	name, ours := t.Name.Local, t.Name.Space == svgSpace || t.Name.Space == ""
	switch {
	case len(c.open)+c.skip >= maxDepth:
		return errors.New("the SVG picture is nested too deeply")
	case len(c.open) == 0 && (c.drawn || name != "svg" || !ours):
		return errors.New("not an SVG picture: the root element is not svg")
	case c.skip > 0 || c.inStyle() || !svgElements[name] || !ours:
		c.skip++
		return nil
	}
	c.drawn = true
	at := c.out.Len()
	c.out.WriteString("<" + name)
	if len(c.open) == 0 {
		c.out.WriteString(` xmlns="` + svgSpace + `" xmlns:xlink="` + xlinkSpace + `"`)
	}
	attributes := c.harmless(name, t.Attr)
	c.parts.start(name, at, attributes)
	for _, a := range attributes {
		c.out.WriteString(" " + a.name + `="`)
		escape(&c.out, a.value)
		c.out.WriteByte('"')
	}
	c.out.WriteByte('>')
	c.open = append(c.open, name)
	return nil
}

func (c *cleaner) end() {
	if c.skip > 0 {
		c.skip--
		return
	}
	if c.inStyle() {
		// Style sheets must not refer to elements of the file, because such uses cannot be counted.
		if css := c.css.String(); harmlessStyle(css) && !ownURL.MatchString(css) {
			escape(&c.out, css)
		}
		c.css.Reset()
	}
	c.out.WriteString("</" + c.open[len(c.open)-1] + ">")
	c.open = c.open[:len(c.open)-1]
	c.parts.end(c.out.Len())
}

func (c *cleaner) text(s string) {
	switch {
	case c.skip > 0 || len(c.open) == 0:
	case c.inStyle():
		c.css.WriteString(s)
	default:
		escape(&c.out, s)
	}
}

type attribute struct{ name, value string }

// harmless returns the attributes to keep, each name once.
func (c *cleaner) harmless(element string, given []xml.Attr) []attribute {
	var kept []attribute
	written := map[string]bool{}
	for _, a := range given {
		name := a.Name.Local
		known := a.Name.Space == "" || a.Name.Space == xlinkSpace && name == "href"
		if !known || !svgAttributes[name] || written[name] {
			continue
		}
		if name == "href" {
			if !c.harmlessReference(element, a.Value) {
				continue
			}
		} else if !harmlessStyle(a.Value) {
			continue
		}
		written[name] = true
		if name == "href" { // older readers know only this name
			name = "xlink:href"
		}
		kept = append(kept, attribute{name, a.Value})
	}
	return kept
}

// harmlessReference reports whether a reference stays in the file: to an element of it, or to an image's embedded PNG.
func (c *cleaner) harmlessReference(element, value string) bool {
	if data, ok := strings.CutPrefix(value, pngData); ok && element == "image" {
		body, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
		if err != nil {
			return false
		}
		size, err := pngSize(body)
		c.parts.pixels += size
		return err == nil
	}
	return element != "image" && ownReference.MatchString(value)
}

// harmlessStyle reports whether CSS does not fetch. It rejects url() except of the file's own elements, @ rules, and
// escapes that could hide them. It also rejects markers, which are drawn at every point of a line.
func harmlessStyle(value string) bool {
	rest := strings.ToLower(ownURL.ReplaceAllString(value, ""))
	for _, bad := range []string{"url", "@", `\`, "javascript:", "expression", "image(", "image-set", "/*",
		"<", "marker"} {
		if strings.Contains(rest, bad) {
			return false
		}
	}
	return true
}

func escape(out *bytes.Buffer, text string) {
	_ = xml.EscapeText(out, []byte(text)) // in memory: cannot fail
}

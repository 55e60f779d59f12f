package sandbox

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	svgSpace = "http://www.w3.org/2000/svg"
	maxDepth = 64
)

// What a drawing may have. There are no references, not even to parts of the drawing itself: they could fetch, or draw
// a part so often that rendering never ends. There are no style sheets, scripts, events and links.
var (
	svgElements   = words(`svg g title desc text tspan path line polyline polygon rect circle ellipse`)
	svgAttributes = words(`viewBox preserveAspectRatio version width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d points
		transform rotate fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-dashoffset
		stroke-linecap stroke-linejoin stroke-miterlimit opacity color font-family font-size font-style font-weight
		letter-spacing text-anchor text-decoration dominant-baseline alignment-baseline baseline-shift`)
	// without functions except those of colours and transformations, and without escapes that could hide one
	svgValue = regexp.MustCompile(
		`^(?:[^()\\]|(?:^|[\s,)])(?:rgba?|hsla?|translate|rotate|scale|skew[XY]|matrix)\s*\([^()\\]*\))*$`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// cleanSVG rewrites an SVG picture with only what a drawing may have. It removes other elements with their content. The
// error says why body is not a picture. The result is UTF-8, and another cleanSVG does not change it.
func cleanSVG(body []byte) ([]byte, error) {
	var out bytes.Buffer
	var open []string // elements that are written and not yet closed
	skipped := 0      // depth inside a removed element
	for dec := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && out.Len() == 0:
			return nil, errors.New("not an SVG picture: it is empty")
		case errors.Is(err, io.EOF):
			return out.Bytes(), nil
		case err != nil:
			return nil, fmt.Errorf("not an SVG picture: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			name, ours := t.Name.Local, t.Name.Space == svgSpace || t.Name.Space == ""
			switch {
			case len(open)+skipped >= maxDepth:
				return nil, errors.New("the SVG picture is nested too deeply")
			case len(open)+skipped == 0 && (out.Len() > 0 || name != "svg" || !ours):
				return nil, errors.New("not an SVG picture: the root element is not svg")
			case skipped > 0 || !ours || !svgElements[name]:
				skipped++
			default:
				startElement(&out, t, len(open) == 0)
				open = append(open, name)
			}
		case xml.EndElement:
			if skipped > 0 {
				skipped--
				continue
			}
			out.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		case xml.CharData:
			if skipped == 0 && len(open) > 0 {
				escape(&out, string(t))
			}
		}
	}
}

// startElement writes the start of an element with the attributes to keep, each name once.
func startElement(out *bytes.Buffer, t xml.StartElement, root bool) {
	out.WriteString("<" + t.Name.Local)
	if root {
		out.WriteString(` xmlns="` + svgSpace + `"`)
	}
	written := map[string]bool{}
	for _, a := range t.Attr {
		name := a.Name.Local
		if a.Name.Space != "" || !svgAttributes[name] || written[name] || !svgValue.MatchString(a.Value) {
			continue
		}
		written[name] = true
		out.WriteString(" " + name + `="`)
		escape(out, a.Value)
		out.WriteByte('"')
	}
	out.WriteByte('>')
}

func escape(out *bytes.Buffer, text string) {
	_ = xml.EscapeText(out, []byte(text)) // in memory: cannot fail
}

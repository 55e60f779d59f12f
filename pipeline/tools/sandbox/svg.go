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

// What a drawing consists of. Everything else goes, with what it contains: scripts, foreign objects, animations, links,
// metadata, filters that fetch.
var (
	svgElements = words(`svg g path rect circle ellipse line polyline polygon text tspan title desc defs use symbol marker
		clipPath mask pattern linearGradient radialGradient stop style image`)
	svgAttributes = words(`id class style transform viewBox preserveAspectRatio version width height x y x1 y1 x2 y2 cx cy r rx ry
		dx dy fx fy d points pathLength rotate lengthAdjust textLength fill fill-opacity fill-rule stroke stroke-width stroke-opacity
		stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit opacity color display visibility overflow
		font font-family font-size font-style font-weight font-variant font-stretch letter-spacing word-spacing text-anchor
		text-decoration text-rendering dominant-baseline alignment-baseline baseline-shift writing-mode direction
		marker-start marker-mid marker-end markerWidth markerHeight markerUnits refX refY orient clip-path clip-rule clipPathUnits
		mask maskUnits maskContentUnits patternUnits patternContentUnits patternTransform gradientUnits gradientTransform
		spreadMethod offset stop-color stop-opacity href shape-rendering image-rendering vector-effect paint-order type`)
	ownReference = regexp.MustCompile(`^#[A-Za-z_][\w.:-]*$`)
	ownURL       = regexp.MustCompile(`(?i)url\(\s*["']?#[A-Za-z_][\w.:-]*["']?\s*\)`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// CleanSVG writes an SVG picture anew from what a drawing needs: no scripts, no events, no references to anything outside.
// The error says why a text is no picture. Its result is UTF-8 and unchanged by another CleanSVG.
func CleanSVG(body []byte) ([]byte, error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	var out bytes.Buffer
	var open []string // elements that were written and are not closed
	skip := 0         // depth inside an element that is left out
	drawn := false
	var css strings.Builder // of the style that is open: comments and elements cut it into pieces that look harmless
	inStyle := func() bool { return len(open) > 0 && open[len(open)-1] == "style" }
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
			name := t.Name.Local
			switch {
			case len(open)+skip >= maxDepth:
				return nil, errors.New("an SVG picture that is nested too deeply")
			case len(open) == 0 && (drawn || name != "svg" || t.Name.Space != svgSpace && t.Name.Space != ""):
				return nil, errors.New("not an SVG picture: its root is another element")
			case skip > 0 || inStyle() || !svgElements[name] || t.Name.Space != svgSpace && t.Name.Space != "":
				skip++
				continue
			}
			drawn = true
			out.WriteString("<" + name)
			if len(open) == 0 {
				out.WriteString(` xmlns="` + svgSpace + `" xmlns:xlink="` + xlinkSpace + `"`)
			}
			writeAttributes(&out, name, t.Attr)
			out.WriteByte('>')
			open = append(open, name)
		case xml.EndElement:
			if skip > 0 {
				skip--
				continue
			}
			if inStyle() {
				if harmlessStyle(css.String()) {
					escape(&out, css.String())
				}
				css.Reset()
			}
			out.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		case xml.CharData:
			switch {
			case skip > 0 || len(open) == 0:
			case inStyle():
				css.Write(t)
			default:
				escape(&out, string(t))
			}
		}
	}
	if !drawn {
		return nil, errors.New("not an SVG picture: it is empty")
	}
	return out.Bytes(), nil
}

func writeAttributes(out *bytes.Buffer, element string, attributes []xml.Attr) {
	written := map[string]bool{}
	for _, a := range attributes {
		name := a.Name.Local
		if a.Name.Space != "" && a.Name.Space != xlinkSpace || a.Name.Space == xlinkSpace && name != "href" || !svgAttributes[name] || written[name] {
			continue
		}
		if name == "href" {
			if !harmlessReference(element, a.Value) {
				continue
			}
		} else if !harmlessStyle(a.Value) {
			continue
		}
		written[name] = true
		if name == "href" { // older readers know no other
			name = "xlink:href"
		}
		out.WriteString(" " + name + `="`)
		escape(out, a.Value)
		out.WriteByte('"')
	}
}

// harmlessReference admits what is in the same file: an element of it, or a picture that an image has in itself.
func harmlessReference(element, value string) bool {
	if data, ok := strings.CutPrefix(value, pngData); ok && element == "image" {
		body, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
		return err == nil && bytes.HasPrefix(body, []byte("\x89PNG\r\n\x1a\n")) && checkPNG(body) == nil
	}
	return element != "image" && ownReference.MatchString(value)
}

// harmlessStyle refuses CSS that fetches: url() of anything but an element of the file, rules with @, escapes that hide them.
func harmlessStyle(value string) bool {
	rest := strings.ToLower(ownURL.ReplaceAllString(value, ""))
	for _, bad := range []string{"url", "@", `\`, "javascript:", "expression", "image(", "image-set", "/*", "<"} {
		if strings.Contains(rest, bad) {
			return false
		}
	}
	return true
}

func escape(out *bytes.Buffer, text string) {
	_ = xml.EscapeText(out, []byte(text)) // into memory: cannot fail
}

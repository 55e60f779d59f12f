package webpage

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
)

// markHidden marks what the eye does not see in a page: elements become hidden, and texts within visible ones empty.
// It knows inline styles and the rules of style elements with simple selectors, not the cascade. Formulas inside
// hidden elements stay, because sites hide the copy for screen readers of what they show as a picture.
func markHidden(tree *node) {
	s := sheet{rules: map[string]look{}, elsewhere: map[string]bool{}}
	view := view{color: black, ground: white}
	for n := range tree.all() {
		switch {
		case n.tag == "style" && len(n.kids) > 0:
			s.add(n.kids[0].text)
		case n.tag == "link" && strings.Contains(strings.ToLower(n.attr["rel"]), "stylesheet"):
			view.unknown = true
		}
	}
	s.mark(tree, view)
}

// look holds declarations of a style, by property.
type look map[string]string

// decisive are the properties that can make text invisible or visible.
var decisive = regexp.MustCompile(`^(?:display|visibility|opacity|font-size|position|left|top|right|bottom|clip|` +
	`clip-path|text-indent|overflow|width|height|max-height|color|background|background-color|background-image|` +
	`background-clip|-webkit-background-clip|text-decoration|text-decoration-line|transform|transition|animation)$`)

func declarations(style string) look {
	d := look{}
	for one := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(one, ":")
		if name = strings.TrimSpace(name); decisive.MatchString(name) {
			d[name] = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		}
	}
	return d
}

// sheet holds the rules of a page with a simple selector: div, .note, div.note or #note.
type sheet struct {
	rules     map[string]look
	elsewhere map[string]bool // class or id with a property that a rule with another selector sets, for example for tabs
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	simple  = regexp.MustCompile(`^[\w-]*(?:[.#][\w-]+)?$`)
	named   = regexp.MustCompile(`[.#][\w-]+`)
)

// add reads a style sheet. Rules within @media and the like are skipped.
func (s sheet) add(css string) {
	css = comment.ReplaceAllString(css, "")
	for depth, from := 0, 0; ; {
		i := strings.IndexAny(css[from:], "{};")
		if i < 0 {
			return
		}
		i += from
		switch from = i + 1; {
		case css[i] == '{' && depth == 0 && !strings.HasPrefix(strings.TrimSpace(css[:i]), "@"):
			body, rest, _ := strings.Cut(css[i+1:], "}")
			s.rule(css[:i], declarations(body))
			css, from = rest, 0
		case css[i] == '{':
			depth++
		case css[i] == '}':
			depth--
			fallthrough
		default:
			if depth <= 0 {
				css, depth, from = css[i+1:], 0, 0
			}
		}
	}
}

func (s sheet) rule(selectors string, d look) {
	for selector := range strings.SplitSeq(selectors, ",") {
		selector = strings.TrimSpace(selector)
		if len(d) == 0 || selector == "" {
			continue
		}
		if !simple.MatchString(selector) {
			for _, name := range named.FindAllString(selector, -1) {
				for property := range d {
					s.elsewhere[name+" "+property] = true
				}
			}
			continue
		}
		if s.rules[selector] == nil {
			s.rules[selector] = look{}
		}
		for property, value := range d {
			s.rules[selector][property] = value
		}
	}
}

// of returns the declarations for an element.
func (s sheet) of(n *node) look {
	d := look{}
	apply := func(selector, name string) {
		for property, value := range s.rules[selector] {
			if !s.elsewhere[name+" "+property] {
				d[property] = value
			}
		}
	}
	if len(s.rules) > 0 {
		apply(n.tag, "")
		for class := range strings.FieldsSeq(n.attr["class"]) {
			apply("."+class, "."+class)
			apply(n.tag+"."+class, "."+class)
		}
		if id := n.attr["id"]; id != "" {
			apply("#"+id, "#"+id)
			apply(n.tag+"#"+id, "#"+id)
		}
	}
	for property, attribute := range map[string]string{"color": "color", "background-color": "bgcolor"} {
		if value := n.attr[attribute]; value != "" {
			d[property] = strings.ToLower(value)
		}
	}
	for property, value := range declarations(n.attr["style"]) {
		d[property] = value
	}
	return d
}

// view is how the text of an element looks, as far as its descendants inherit it.
type view struct {
	small, invisible, aside bool
	color, ground           [3]int
	unknown                 bool // the ground is set by a style sheet or picture that is not here
	hidden                  bool // inside a hidden element with a formula
}

func (v view) seen() bool {
	return !v.hidden && !v.small && !v.invisible && !v.aside
}

var black, white = [3]int{}, [3]int{255, 255, 255}

func (s sheet) mark(n *node, v view) {
	if n.tag == "" {
		if !v.seen() || !v.unknown && near(v.color, v.ground) {
			n.text = ""
		}
		return
	}
	if n.attr != nil || len(s.rules) > 0 {
		d := s.of(n)
		v.inherit(d)
		switch _, hidden := n.attr["hidden"]; {
		case v.hidden:
		case n.tag == "body" || n.tag == "html" || n.tag == "main" || n.tag == "article": // until a script has run
			v.small, v.invisible, v.aside = false, false, false
		case !hidden && !d.gone():
		case n.find(isMath) == nil:
			n.hidden = true
			return
		default:
			v.hidden = true
		}
	}
	if n.tag == "math" {
		v = view{unknown: true}
	}
	for _, k := range n.kids {
		s.mark(k, v)
	}
}

func isMath(n *node) bool { return n.tag == "math" }

// inherit changes a view by the declarations of an element.
func (v *view) inherit(d look) {
	if size := d["font-size"]; size != "" {
		v.small = measure(size) == 0
	}
	if seen := d["visibility"]; seen != "" {
		v.invisible = seen == "hidden" || seen == "collapse"
	}
	if indent := d["text-indent"]; indent != "" {
		v.aside = measure(indent) <= offScreen
	}
	ground := d["background-color"]
	if back := d["background"]; back != "" && ground == "" {
		ground, _, _ = strings.Cut(back, " ")
		if strings.HasPrefix(back, "rgb") {
			ground = back
		}
	}
	if c, ok := colorOf(ground); ok {
		v.ground, v.unknown = c, false
	} else if ground != "" && ground != "none" && ground != "transparent" || d["background-image"] != "" {
		v.unknown = true
	}
	if c, ok := colorOf(d["color"]); ok {
		v.color = c
	}
}

// offScreen is the offset in pixels from which on an element is off the screen.
const offScreen = -900

// gone reports whether an element with these declarations shows nothing or is struck out. An element that a script
// fades or slides in is not gone.
func (d look) gone() bool {
	away := d["position"] == "absolute" || d["position"] == "fixed"
	for _, side := range []string{"left", "top", "right", "bottom"} {
		if away && d[side] != "" && measure(d[side]) <= offScreen {
			return true
		}
	}
	for _, size := range []string{"width", "height", "max-height"} {
		if value := d[size]; d["overflow"] == "hidden" && measure(value) == 0 && d["transition"] == "" {
			return true
		}
	}
	if d["opacity"] != "" && measure(d["opacity"]) == 0 {
		return d["transform"] == "" && d["transition"] == "" && d["animation"] == ""
	}
	if away && (noRect.MatchString(d["clip"]) || d["clip-path"] == "inset(50%)") {
		return true
	}
	return d["display"] == "none" || strings.Contains(d["text-decoration"]+d["text-decoration-line"], "line-through")
}

var noRect = regexp.MustCompile(`^rect\( ?[01](?:px)?[, ]`)

var length = regexp.MustCompile(`^([+-]?\d*\.?\d+)(px|pt|em|rem|ex|ch|vw|vh|%|in|cm)?$`)

// measure returns a length in pixels, roughly, or 1 for other values.
func measure(value string) float64 {
	m := length.FindStringSubmatch(value)
	if m == nil {
		return 1
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	switch m[2] {
	case "em", "rem", "ex", "ch", "vw", "vh", "%":
		n *= 10
	case "in", "cm":
		n *= 40
	}
	return n
}

var components = regexp.MustCompile(`^rgba?\( ?(\d{1,3}) ?[, ] ?(\d{1,3}) ?[, ] ?(\d{1,3}) ?\)$`)

// colorOf parses an opaque colour.
func colorOf(value string) (c [3]int, ok bool) {
	if named, known := colornames.Map[value]; known {
		return [3]int{int(named.R), int(named.G), int(named.B)}, true
	}
	if m := components.FindStringSubmatch(value); m != nil {
		for i := range c {
			c[i], _ = strconv.Atoi(m[i+1])
		}
		return c, true
	}
	digits, hash := strings.CutPrefix(value, "#")
	if len(digits) == 3 {
		digits = strings.Join([]string{digits[:1], digits[:1], digits[1:2], digits[1:2], digits[2:], digits[2:]}, "")
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	return [3]int{int(n >> 16), int(n >> 8 & 255), int(n & 255)}, hash && err == nil && len(digits) == 6
}

// near reports whether the eye cannot tell two colours apart.
func near(a, b [3]int) bool {
	for i := range a {
		if d := a[i] - b[i]; d < -8 || d > 8 {
			return false
		}
	}
	return true
}

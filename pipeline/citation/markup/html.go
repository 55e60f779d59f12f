package markup

import (
	"regexp"
	"strings"
)

var (
	attribute    = regexp.MustCompile(`(?i)[\s"'/](href|src|id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
	anchorTag    = regexp.MustCompile(`(?i)^a\s+(?:id|name)\s*=\s*["']?[\w.:-]{1,100}["']?\s*/?$`)
	eventHandler = regexp.MustCompile(`(?i)[\s"'/](?:on[a-z]+|style|srcset|srcdoc|action|formaction|xlink:href` +
		`|background|poster|lowsrc|dynsrc|ping|data|codebase|longdesc|manifest)\s*=`)
)

func attributes(tag string) map[string]string {
	found := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, 10) {
		if name := strings.ToLower(m[1]); found[name] == "" {
			found[name] = m[2] + m[3] + m[4]
		}
	}
	return found
}

// isPlain reports whether a tag does nothing and has no other address than this one.
func isPlain(tag, dest string) bool {
	return !eventHandler.MatchString(tag) && strings.Count(tag, "://") <= strings.Count(dest, "://")
}

// externalTag handles an HTML tag of a text from outside: links and pictures are judged by their addresses, what loads
// or runs something goes, anchors and plain markup stay.
func (w *Walker) externalTag(i, next int, name, inside string) int {
	a := attributes(inside)
	closing := strings.HasPrefix(inside, "/")
	switch {
	case !activeTags[name]:
		if name == "" || closing || !eventHandler.MatchString(inside) {
			return i
		}
		return next
	case name == "a" && !closing:
		v := Verdict{Keep: anchorTag.MatchString(inside)}
		if a["href"] != "" {
			v = w.OnLink(a["href"], linkInline)
			if v.Dest != "" {
				v = Verdict{After: v.Dest}
			}
			v.Keep = v.Keep && isPlain(inside, a["href"])
		}
		if end := w.closing("</a>", next, next+maxLinkText); end >= 0 {
			w.tails[end] = linkTail{end + len("</a>"), v}
		}
		if v.Keep {
			w.copy(i, next)
		}
		return next
	case name == "img":
		v := w.OnLink(a["src"], Bare)
		if v.Keep && v.Dest == "" && isPlain(inside, a["src"]) {
			w.copy(i, next)
			return next
		}
		return w.insert(v.After, next, true)
	case (name == "script" || name == "style") && !closing:
		if end := w.closing("</"+name, next, len(w.Text)); end >= 0 {
			next = end
			if tag := strings.IndexByte(w.Text[next:], '>'); tag >= 0 {
				next += tag + 1
			}
		}
	}
	return w.closeGap(next)
}

// closing returns where a closing tag begins between two positions, whatever its case, and -1 when none does.
func (w *Walker) closing(tag string, from, to int) int {
	if w.lower == "" {
		w.lower, w.unclosed = LowerASCII(w.Text), map[string]bool{}
	}
	if w.unclosed[tag] {
		return -1
	}
	at := strings.Index(w.lower[from:min(to, len(w.lower))], tag)
	if at < 0 {
		w.unclosed[tag] = to >= len(w.lower)
		return -1
	}
	return from + at
}

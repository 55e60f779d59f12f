package answer

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader reads one JSON object as models write it. It takes text that is JSON as it is, but for LaTeX commands. It also
// accepts missing and surplus commas, other quotes and none, comments, words of Python, quotes and raw line breaks
// inside strings, and an end that is missing.
type reader struct {
	text   string
	at     int
	strict bool // read only JSON; the first other thing ends the reading
	cut    bool // the token limit ended the text, so its last number or word may be incomplete
	drop   int  // how many of the innermost objects and lists that the end left open are dropped
	depth  int
	mended bool // the text is not JSON
	open   bool // the object has no end
}

const maxDepth = 100 // of objects and lists

// object reads the object at the start of text. ok is false if there is none. The members that the end of the text
// left incomplete are missing.
func (r *reader) object() (value map[string]any, ok bool) {
	members := map[string]any{}
	whole := r.members('}', func() bool {
		key, ok := r.key()
		if !ok {
			return false
		}
		member, ok, fits := r.value(true)
		if ok {
			members[key] = member
		}
		return fits
	})
	return members, whole
}

// list reads a list.
func (r *reader) list() (items []any, ok bool) {
	items = []any{}
	whole := r.members(']', func() bool {
		item, ok, fits := r.value(false)
		if ok {
			items = append(items, item)
		}
		return fits
	})
	return items, whole
}

// members reads what stands between brackets, by calling next for each member. It returns false if the text is not
// like JSON.
func (r *reader) members(end byte, next func() bool) bool {
	r.at++
	if r.depth++; r.depth > maxDepth {
		return false
	}
	defer func() { r.depth-- }()
	comma := true // or the beginning
	for first := true; ; {
		c := r.peek()
		switch {
		case r.strict && r.mended:
			return false
		case r.open:
			return true
		case c == end:
			r.mended = r.mended || comma && !first
			r.at++
			return true
		case c == ',':
			r.mended = r.mended || comma
			comma = true
			r.at++
			continue
		case c == '}' || c == ']': // the bracket of an outer one
			r.mended = true
			return true
		case c == 0 || !comma && !startsMember(c):
			r.open = true
			return true
		}
		r.mended = r.mended || !comma
		if !next() {
			r.open, r.mended = true, true
			return !first
		}
		comma, first = false, false
	}
}

// startsMember reports whether a member without a comma before it may begin so.
func startsMember(c byte) bool {
	return isLetter(c) || strings.IndexByte("\"'{[_", c) >= 0
}

// peek skips white space and comments, and returns the next byte; 0 at the end.
func (r *reader) peek() byte {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			r.skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			r.skip(rest, "*/")
		default:
			return rest[0]
		}
	}
	return 0
}

func (r *reader) skip(rest, to string) {
	before, _, _ := strings.Cut(rest, to)
	r.mended, r.at = true, min(r.at+len(before)+len(to), len(r.text))
}

// key reads the name of a member, with its colon. ok is false if there is none; at the end of the text r.open is set.
func (r *reader) key() (key string, ok bool) {
	if c := r.peek(); c == '"' || c == '\'' {
		key, ok = r.quoted(c, false)
	} else if key = word.FindString(r.text[r.at:]); key != "" {
		r.at, r.mended, ok = r.at+len(key), true, true
	}
	switch r.peek() {
	case ':':
		r.at++
		return key, ok
	case 0:
		r.open = true
	}
	return "", r.open
}

var (
	word    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	literal = regexp.MustCompile(`^[^\s,:{}\[\]"']+`)
)

// value reads a value. fits is false if the text is not like JSON; ok is false if the end of the text leaves the value
// incomplete.
func (r *reader) value(inObject bool) (value any, ok, fits bool) {
	if r.open {
		return nil, false, true
	}
	switch c := r.peek(); {
	case c == 0:
		r.open = true
		return nil, false, true
	case c == '{':
		value, fits = r.object()
		return value, r.keeps(), fits
	case c == '[':
		value, fits = r.list()
		return value, r.keeps(), fits
	case c == '"', c == '\'':
		value, ok = r.quoted(c, inObject)
		return value, ok, true
	}
	text := literal.FindString(r.text[r.at:])
	r.at += len(text)
	if r.at == len(r.text) && r.cut {
		r.open = true
		return nil, false, true
	}
	switch strings.ToLower(text) {
	case "true", "false":
		r.mended = r.mended || text != strings.ToLower(text)
		return strings.EqualFold(text, "true"), true, true
	case "null", "none":
		r.mended = r.mended || text != "null"
		return nil, true, true
	}
	if json.Valid([]byte(text)) {
		return json.Number(text), true, true
	}
	r.mended = true
	return text, true, text != "" && isLetter(text[0])
}

// keeps reports whether an object or a list that has just ended is complete, or is kept although it is not.
func (r *reader) keeps() bool {
	if !r.open || r.drop == 0 {
		return true
	}
	r.drop--
	return false
}

// quoted reads a string. It ends at a quote that something follows which may follow a string. inObject: as the value of
// a member, before which a name stands. ok is false at the end of the text.
func (r *reader) quoted(quote byte, inObject bool) (text string, ok bool) {
	r.mended = r.mended || quote != '"'
	var out strings.Builder
	comma, before := -1, 0 // the last comma before a quote, and the text before it
	for r.at++; r.at < len(r.text); {
		c := r.text[r.at]
		switch {
		case c == '\\':
			r.escape(&out)
			continue
		case c == quote && r.ends(inObject):
			r.at++
			return out.String(), true
		case c == quote && inObject && comma >= 0 && r.follows(":"): // this string began after a quote that is missing
			r.at, r.mended = comma, true
			return out.String()[:before], true
		case c == quote:
			r.mended = true
		case c == ',' && r.follows(string(quote)):
			comma, before = r.at, out.Len()
		case c < 0x20:
			r.mended = true
		}
		out.WriteByte(c)
		r.at++
	}
	r.open = true
	return "", false
}

// ends reports whether the quote at r.at may end a string.
func (r *reader) ends(inObject bool) bool {
	if r.strict {
		return true
	}
	rest := strings.TrimLeft(r.text[r.at+1:min(len(r.text), r.at+200)], " \t\r\n")
	switch {
	case rest == "":
		return true
	case strings.IndexByte("}]", rest[0]) >= 0, strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "```"):
		return true
	case rest[0] == ':':
		return !inObject
	case rest[0] != ',':
		return afterString.MatchString(rest) && !inObject || beginsMember.MatchString(rest)
	case !inObject:
		return true
	}
	next := strings.TrimLeft(rest[1:], " \t\r\n")
	return next == "" || strings.IndexByte("}/#", next[0]) >= 0 || beginsMember.MatchString(next)
}

// follows reports whether text follows the byte at r.at, perhaps after white space.
func (r *reader) follows(text string) bool {
	rest := r.text[r.at+1 : min(len(r.text), r.at+200)]
	return strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), text)
}

var (
	beginsMember = regexp.MustCompile(`^("[^"\n]{1,60}"|'[^'\n]{1,60}'|[A-Za-z_][A-Za-z0-9_]*)\s*:`)
	afterString  = regexp.MustCompile(`^["'{\[]`)
)

// escape reads an escape. A backslash that begins none, or a LaTeX command, stands for itself.
func (r *reader) escape(out *strings.Builder) {
	rest := r.text[r.at:]
	if len(rest) < 2 || !isJSONEscape(rest) {
		r.mended = true
		out.WriteByte('\\')
		r.at++
		return
	}
	r.at += 2
	switch c := rest[1]; c {
	case 'u':
		code := hex4(rest[2:])
		if r.at += 4; utf16.IsSurrogate(code) {
			pair := rune(utf8.RuneError)
			if low := rest[6:]; strings.HasPrefix(low, `\u`) && isJSONEscape(low) {
				pair = utf16.DecodeRune(code, hex4(low[2:]))
			}
			if code = pair; pair != utf8.RuneError {
				r.at += 6
			}
		}
		out.WriteRune(code)
	default:
		if i := strings.IndexByte("nrtbf", c); i >= 0 {
			c = "\n\r\t\b\f"[i]
		}
		out.WriteByte(c)
	}
}

// hex4 returns the value of four hexadecimal digits.
func hex4(text string) rune {
	n, _ := strconv.ParseUint(text[:4], 16, 16) // isJSONEscape has checked it
	return rune(n)
}

// latexCommands are LaTeX commands that begin with the letter of a JSON escape (b, f, n, r, t), so that \beta decodes
// to a backspace and "eta" without an error. Names that are more often an escape before a word are left out: \ne,
// \ni, \top.
var latexCommands = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`
		backslash bar barwedge because begin beta beth bf bfseries bibitem big Big bigcap bigcirc bigcup bigg bigl bigm
		bigodot bigoplus bigotimes bigr bigsqcup biguplus bigvee bigwedge binom blacksquare bm bmod boldsymbol bot bowtie
		box boxed boxplus boxtimes brace bra braket breve bullet bumpeq
		fbox fcolorbox figure fint flat footnote footnotesize forall frac frak frown
		nabla natural ncong nearrow neg negthinspace neq newcommand newline nexists ngeq ngtr nleftarrow nleq nless nmid
		noindent nolimits nonumber norm not notin nparallel nprec nrightarrow nsim nsubseteq nsucc nsupseteq nu nwarrow
		raise raisebox rangle rbrace rbrack rceil real ref renewcommand restriction rfloor rho right rightarrow
		rightharpoonup rightleftarrows rightleftharpoons rightsquigarrow rm rmfamily root rule rVert rvert
		table tabular tag tan tanh tau tbinom textbf textcolor textit textmd textnormal textrm textsc textsf textsl
		textstyle textsubscript textsuperscript texttt textup text tfrac therefore theta thickapprox thicksim thinspace
		tilde times tiny title to triangle triangledown triangleleft triangleq triangleright tt twoheadrightarrow`) {
		set[name] = true
	}
	return set
}()

// isJSONEscape reports whether text begins with a valid JSON escape that is not meant as a LaTeX command. text begins
// with a backslash and has a second byte.
func isJSONEscape(text string) bool {
	switch text[1] {
	case '"', '\\', '/', '\'':
		return true
	case 'b', 'f', 'n', 'r', 't':
		end := 1
		for end < len(text) && isLetter(text[end]) {
			end++
		}
		return !latexCommands[text[1:end]]
	case 'u':
		if len(text) < 6 {
			return false
		}
		_, err := strconv.ParseUint(text[2:6], 16, 16)
		return err == nil
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

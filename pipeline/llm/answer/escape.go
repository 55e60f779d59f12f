package answer

import (
	"strconv"
	"strings"
)

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

// fixEscapes repairs backslashes and control characters inside the strings of a JSON text. It doubles the backslash
// of a LaTeX command and of any invalid escape, and escapes raw control characters. A real \n before a word stays an
// escape. Valid JSON without escapes that read as LaTeX commands is unchanged. fixEscapes is idempotent.
func fixEscapes(text string) string {
	if !strings.ContainsAny(text, "\\") && !hasControl(text) {
		return text
	}
	var out strings.Builder
	inString, copied := false, 0
	replace := func(from, to int, by string) {
		out.WriteString(text[copied:from])
		out.WriteString(by)
		copied = to
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			inString = !inString
		case !inString:
		case c == '\\' && i+1 == len(text): // cut in the middle of an escape
		case c == '\\':
			if isJSONEscape(text[i:]) {
				i++ // skip its second character, which may be a quote or backslash
			} else {
				replace(i, i, `\`)
			}
		case c < 0x20:
			replace(i, i+1, controlEscape(c, i+1 < len(text) && isLetter(text[i+1])))
		}
	}
	out.WriteString(text[copied:])
	return out.String()
}

// isJSONEscape reports whether text begins with a valid JSON escape that is not meant as a LaTeX command. text begins
// with a backslash and has a second byte.
func isJSONEscape(text string) bool {
	switch text[1] {
	case '"', '\\', '/':
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

func hasControl(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < 0x20 {
			return true
		}
	}
	return false
}

// controlEscape returns a control character as an escape. Before a letter it uses the long form, which cannot be read
// as a LaTeX command.
func controlEscape(c byte, beforeLetter bool) string {
	switch {
	case beforeLetter:
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string(hex[c>>4]) + string(hex[c&15])
}

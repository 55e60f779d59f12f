package office

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// formula returns a formula of Office (OMML) in one line, in the notation of package webpage: x^2, a_i, (a+b)/c.
func formula(e *xmltree.Element) string {
	part := func(name string) string { return atom(formula(e.Child(name))) }
	switch e.Name {
	case "t":
		return signs(e.Text, "")
	case "f":
		return part("num") + "/" + part("den")
	case "sSup":
		return part("e") + "^" + part("sup")
	case "sSub":
		return part("e") + "_" + part("sub")
	case "sSubSup":
		return part("e") + "_" + part("sub") + "^" + part("sup")
	case "limLow", "limUpp":
		return formula(e.Child("e")) + map[string]string{"limLow": "_", "limUpp": "^"}[e.Name] + part("lim")
	case "rad":
		if degree := formula(e.Child("deg")); degree != "" {
			return part("e") + "^(1/" + atom(degree) + ")"
		}
		return "sqrt(" + formula(e.Child("e")) + ")"
	case "nary":
		sign := "∫"
		if chr := e.Child("naryPr").Child("chr"); chr.Name != "" {
			sign = chr.Attr["val"]
		}
		for _, limit := range [][2]string{{"sub", "_"}, {"sup", "^"}} {
			if text := part(limit[0]); text != "" {
				sign += limit[1] + text
			}
		}
		return sign + " " + formula(e.Child("e"))
	case "d":
		pr := e.Child("dPr")
		sign := func(name, usual string) string {
			if chr := pr.Child(name); chr.Name != "" {
				return chr.Attr["val"]
			}
			return usual
		}
		return sign("begChr", "(") + joined(e, "e", cmp.Or(pr.Child("sepChr").Attr["val"], "|")) + sign("endChr", ")")
	case "func":
		return formula(e.Child("fName")) + " " + formula(e.Child("e"))
	case "eqArr":
		return joined(e, "e", "; ")
	case "m":
		return joined(e, "mr", "; ")
	case "mr":
		return joined(e, "e", " ")
	}
	if strings.HasSuffix(e.Name, "Pr") {
		return ""
	}
	var b strings.Builder
	for _, k := range e.Kids {
		b.WriteString(formula(k))
	}
	return b.String()
}

func joined(e *xmltree.Element, name, separator string) string {
	var parts []string
	for _, k := range e.Kids {
		if k.Name == name {
			parts = append(parts, formula(k))
		}
	}
	return strings.Join(parts, separator)
}

// atom puts a part of a formula in parentheses, unless it is one sign, number or root.
func atom(s string) string {
	s = strings.TrimSpace(s)
	number := strings.Trim(s, "0123456789.,") == ""
	root := strings.HasPrefix(s, "sqrt(") && strings.IndexByte(s, ')') == len(s)-1
	if letters := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) < 0; letters && len(s) > 1 {
		root = root || utf8.RuneCountInString(s) > 3 // a word
	}
	if number || root || utf8.RuneCountInString(s) <= 1 {
		return s
	}
	return "(" + s + ")"
}

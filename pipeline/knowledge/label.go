package knowledge

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/knowledge/extract"
)

// label is a name by which Item finds a place in a document.
type label struct {
	name    string // folded by foldName
	rank    int    // one of the rank constants
	section int    // index into Document.Sections
	offset  int
	anchor  string // set if more precise than the section's anchor
}

// Ranks of a label, by how likely the name refers to this place; lower is better.
const (
	rankItem    = iota // start of a caption ("Table 2. Limits") or of a paragraph ("Theorem 3.1 (Zorn).")
	rankHeading        // a heading or its number
	rankTitle          // the document's title
	rankTerm           // a term of a definition list, or its symbol
	rankPart           // the last component of a symbol: Mutex of sync.Mutex
	rankMention        // a paragraph that begins with the item's name but continues as a sentence
)

// kinds maps the folded first word of a numbered item to its full form.
var kinds = map[string]string{
	"theorem": "theorem", "thm": "theorem", "thm.": "theorem", "lemma": "lemma", "corollary": "corollary",
	"cor.":        "corollary",
	"proposition": "proposition", "prop.": "proposition", "definition": "definition", "def.": "definition",
	"axiom":  "axiom",
	"remark": "remark", "example": "example", "exercise": "exercise", "problem": "problem", "claim": "claim",
	"conjecture": "conjecture", "table": "table", "tab.": "table", "figure": "figure", "fig": "figure", "fig.": "figure",
	"chapter": "chapter", "ch.": "chapter", "chap.": "chapter", "section": "section", "sec": "section", "sec.": "section",
	"sect.": "section", "§": "section", "§§": "section", "appendix": "appendix", "app.": "appendix", "annex": "annex",
	"article": "article", "art.": "article", "part": "part", "equation": "equation", "eq": "equation", "eq.": "equation",
	"algorithm": "algorithm", "alg.": "algorithm", "listing": "listing", "rule": "rule", "step": "step", "box": "box",
	"clause": "clause", "paragraph": "paragraph", "requirement": "requirement", "recommendation": "recommendation",
	"schedule": "schedule", "note": "note", "item": "item", "rfc": "rfc",
	"定理": "定理", "引理": "引理", "定义": "定义", "推论": "推论", "命题": "命题", "例": "例", "表": "表", "图": "图", "圖": "图",
	"算法": "算法",
}

var (
	// numbered matches "kind number" at the start of folded text: group 1 is the kind, 2 the number.
	numbered = regexp.MustCompile(`^(\pL+\.?|§§?) ?[(]?([a-z]?\d+(?:[.\-]\d+)*[a-z]?|[a-z](?:\.\d+)+|[ivxlc]+)\b[)]?`)
	// number matches the number of a heading, such as "25.1." or "A.2"; group 1 is the number.
	number  = regexp.MustCompile(`^((?:[a-z]\.)?\d+(?:\.\d+)*)\.?(?: |$)`)
	chinese = regexp.MustCompile(`^第 ?([0-9一二三四五六七八九十百]+) ?([章节節条條])`)
	// keyword matches the keywords before the name in a signature.
	keyword = regexp.MustCompile(`^(?:(?:func|function|def|type|class|struct|interface|enum|const|var|let|method|` +
		`property|exception|module|macro|async|static|abstract|public|attribute|classmethod|staticmethod|` +
		`abstractmethod|coroutine|fn|trait|impl|package|command|option|setting|parameter)\s+)+`)
	// receiver matches the receiver of a Go method; group 1 is the type.
	receiver = regexp.MustCompile(`^\(\s*\w*\s*\*?(\w+)[^)]*\)\s*`)
	// signature matches a line that declares a function: "string_agg(value text) → text".
	signature = regexp.MustCompile(`^@?[\pL_][\pL\pN_.:]* ?\([^;]*\)(?: ?(?:→|->|:|=>|returns?\b).*)?$`)
	symbol    = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*(?:(?:\.|::|#|->|/|-)[\pL_$~][\pL\pN_$]*)*`)
)

// foldName normalizes a name for comparison: NFKC, lower case, single spaces, and full words for abbreviations
// ("Fig. 5:" becomes "figure 5", "§4.2" becomes "section 4.2").
func foldName(s string) string {
	s = strings.ToLower(norm.NFKC.String(s))
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimRight(strings.Trim(s, "`\"'“”«» "), " .:;,—–-")
	if m := chinese.FindStringSubmatch(s); m != nil {
		return "第" + m[1] + m[2] + s[len(m[0]):]
	}
	if m := numbered.FindStringSubmatch(s); m != nil {
		if kind := kinds[m[1]]; kind != "" {
			return kind + " " + m[2] + s[len(m[0]):]
		}
	}
	return s
}

// labels returns the labels of a document.
func labels(doc extract.Document) []label {
	l := &labelling{doc: doc, best: map[place]int{}}
	l.heading(doc.Title, rankTitle, 0)
	for i, s := range doc.Sections {
		l.section = i
		if len(s.Path) > 0 {
			l.heading(s.Path[len(s.Path)-1], rankHeading, s.Offset)
		}
	}
	for _, t := range doc.Terms {
		l.section = l.sectionAt(t.Offset)
		l.term(t)
	}
	l.section = 0
	l.paragraphs()
	return l.out
}

type place struct {
	name   string
	offset int
}

type labelling struct {
	doc     extract.Document
	section int
	out     []label
	best    map[place]int // index into out
}

func (l *labelling) add(name string, rank, offset int, anchor string) {
	if name == "" || len(name) > 200 {
		return
	}
	at := place{name, offset}
	if i, ok := l.best[at]; ok {
		if rank < l.out[i].rank {
			l.out[i].rank = rank
		}
		return
	}
	l.best[at] = len(l.out)
	l.out = append(l.out, label{name, rank, l.section, offset, anchor})
}

// sectionAt returns the section that contains an offset. The search continues from the last section.
func (l *labelling) sectionAt(offset int) int {
	i := l.section
	if l.doc.Sections[i].Offset > offset {
		i = 0
	}
	for i+1 < len(l.doc.Sections) && l.doc.Sections[i+1].Offset <= offset {
		i++
	}
	return i
}

// heading adds the labels of a heading or title: the whole text, its number, and its words without the number.
func (l *labelling) heading(text string, rank, offset int) {
	name := foldName(text)
	l.add(name, rank, offset, "")
	if m := number.FindStringSubmatch(name); m != nil {
		l.add(m[1], rank, offset, "")
		l.add("section "+m[1], rank, offset, "")
		l.add(strings.TrimSpace(name[len(m[0]):]), rank, offset, "")
	}
	l.item(name, rank, offset)
	if m := symbols(text); len(m) > 0 && (keyword.MatchString(name) || strings.HasSuffix(name, ")")) {
		l.add(m[0], rank, offset, "")
	}
}

// item adds the label of a text that begins with the name of a numbered item, such as "Table 2".
func (l *labelling) item(name string, rank, offset int) {
	if m := chinese.FindString(name); m != "" {
		l.add(m, rank, offset, "")
		l.add(strings.TrimSpace(name[len(m):]), rank, offset, "")
		return
	}
	m := numbered.FindStringSubmatch(name)
	if m == nil || kinds[m[1]] == "" {
		return
	}
	if rank == rankItem && !isItem(name) {
		rank = rankMention // "Table 2 shows ..."
	}
	rest := strings.TrimLeft(name[len(m[0]):], " ")
	l.add(kinds[m[1]]+" "+m[2], rank, offset, "")
	if rank == rankHeading || rank == rankTitle {
		l.add(strings.TrimLeft(rest, ".:—–- "), rank, offset, "")
	}
}

func (l *labelling) term(t extract.Term) {
	name := foldName(t.Text)
	l.add(name, rankTerm, t.Offset, t.Anchor)
	if strings.HasPrefix(name, "-") { // options of a command: "-a --all"
		for o := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == ' ' || r == ',' }) {
			if o, _, _ = strings.Cut(o, "="); len(o) > 1 && o[0] == '-' {
				l.add(o, rankTerm, t.Offset, t.Anchor)
			}
		}
		return
	}
	for i, s := range symbols(t.Text) {
		l.add(s, rankTerm+min(i, 1), t.Offset, t.Anchor)
	}
	l.item(name, rankTerm, t.Offset)
}

// symbols returns the folded qualified name at the start of a signature and its last component: heapq.heap and heap for
// "class heapq.Heap(x)".
func symbols(signature string) []string {
	s := strings.TrimPrefix(strings.TrimSpace(signature), "@")
	s = s[len(keyword.FindString(s)):]
	prefix := ""
	if m := receiver.FindStringSubmatch(s); m != nil {
		prefix, s = m[1]+".", s[len(m[0]):]
	}
	name := symbol.FindString(s)
	if name == "" {
		return nil
	}
	rest := strings.TrimLeft(s[len(name):], " ")
	if rest != "" && strings.IndexAny(rest, "([{<=:,¶*") != 0 && len(strings.Fields(rest)) > 3 { // prose
		return nil
	}
	full := foldName(prefix + name)
	out := []string{full}
	if i := strings.LastIndexAny(full, ".:#>/"); i >= 0 && i+1 < len(full) {
		out = append(out, full[i+1:])
	}
	return out
}

// paragraphs adds labels from the starts of lines, such as captions, theorems and signatures.
func (l *labelling) paragraphs() {
	text, fenced := l.doc.Text, false
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := text[at:min(end, at+120)]
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case !fenced && line != "" && line[0] != '|' && line[0] != '-':
			if end-at < 120 && signature.MatchString(line) {
				l.section = l.sectionAt(at)
				for i, s := range symbols(line) {
					l.add(s, rankTerm+min(i, 1), at, "")
				}
			}
			line = strings.ToLower(strings.ToValidUTF8(line, ""))
			if m := numbered.FindStringSubmatch(line); m != nil && kinds[m[1]] != "" {
				l.section = l.sectionAt(at)
				l.item(line, rankItem, at)
			}
		}
		at = end + 1
	}
}

// isItem reports whether a paragraph begins with the name of a numbered item and does not continue as a sentence.
func isItem(paragraph string) bool {
	name := strings.ToLower(strings.ToValidUTF8(paragraph[:min(len(paragraph), 60)], ""))
	m := numbered.FindStringSubmatch(name)
	if m == nil || kinds[m[1]] == "" {
		return false
	}
	rest := strings.TrimLeft(name[len(m[0]):], " ")
	return rest == "" || strings.ContainsRune(".:(—–-[|", []rune(rest)[0])
}

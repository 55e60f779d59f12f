package citation

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// pageSuffix is what may follow a document's name: ", p.15", " p15", ", pages 3-4", " (S. 7)", "#page=3", " 第15页".
var pageSuffix = regexp.MustCompile(`(?i)(?:(?:\s*[,;:，；：]\s*|\s+|\s*[(（])\(?(?:pp?\.?|pages?|pg\.?|seiten?|s\.` +
	`|página|pág\.?|с\.|стр\.?)\s*(\d{1,6})(?:\s*[-–—,]\s*\d{1,6})*|#page=(\d{1,6})` +
	`|\s*[,，]?\s*[(（]?第?\s*(\d{1,6})\s*(?:[页頁쪽]|ページ))[)）]?[\s.,;]*$`)

// ParseKey takes a document key apart: "handbook.pdf, p.15" is page 15 of handbook.pdf. Page 0 means that none is
// named.
func ParseKey(key string) (file string, page int) {
	key = norm.NFC.String(text.Line(key))
	end := strings.TrimRight(key, " .,;)）")
	// nearly every line of a report
	if end == "" || !unicode.IsDigit(rune(end[len(end)-1])) && !strings.ContainsRune("页頁쪽ジ", lastRune(end)) {
		return strings.TrimRight(key, " ,;"), 0
	}
	if m := pageSuffix.FindStringSubmatchIndex(key); m != nil && m[0] > 0 {
		for _, g := range []int{2, 4, 6} {
			if m[g] >= 0 {
				page, _ = strconv.Atoi(key[m[g]:m[g+1]])
			}
		}
		key = key[:m[0]]
	}
	return strings.TrimRight(key, " ,;"), page
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// fileName is how a file looks: a name and an extension of 1 to 5 characters that begins with a letter.
var fileName = regexp.MustCompile(`(?i)^[^\s./][^/\n]{0,200}(?:/[^/\n]{1,200})*\.[a-z][a-z0-9_]{1,4}$`)

func isFile(name string) bool { return len(name) < 1000 && fileName.MatchString(name) }

// documents finds sources by document key.
type documents struct {
	pages map[string]*pages   // by folded name
	base  map[string][]string // names by the last part of the path
	files []string            // folded names that are files, to be looked for in a line; the longest first once sorted
	words bool                // there are names that are no files
}

// pages holds the sources of one document.
type pages struct {
	first int
	by    map[int]int
}

func (d *documents) add(key string, source int) {
	file, page := ParseKey(key)
	name := strings.ToLower(file)
	if name == "" {
		return
	}
	p := d.pages[name]
	if p == nil {
		p = &pages{source, map[int]int{}}
		d.pages[name] = p
		d.base[path.Base(name)] = append(d.base[path.Base(name)], name)
		if isFile(name) {
			d.files = append(d.files, name)
		} else {
			d.words = true
		}
	}
	if _, known := p.by[page]; !known {
		p.by[page] = source
	}
}

// find returns the source of a page of a document, else the document's first, by its name or by the last part of its
// path where only one document has it. Page 0 means that none is named.
func (d *documents) find(file string, page int) (source int, ok bool) {
	name := strings.ToLower(file)
	if p := d.pages[name]; p != nil {
		return p.source(page), true
	}
	if names := d.base[name]; len(names) == 1 && isFile(name) {
		return d.pages[names[0]].source(page), true
	}
	return 0, false
}

func (p *pages) source(page int) int {
	if at, known := p.by[page]; known {
		return at
	}
	return p.first
}

// within finds the longest file name that occurs as a separate word in a line.
func (d *documents) within(line string, page int) (source int, ok bool) {
	line = strings.ToLower(line)
	for _, name := range d.files {
		for at := 0; ; at++ {
			next := strings.Index(line[at:], name)
			if next < 0 {
				break
			}
			if at += next; standsAlone(line, at, at+len(name)) {
				return d.pages[name].source(page), true
			}
		}
	}
	return 0, false
}

// standsAlone reports whether the name s[start:end] is not part of a longer name.
func standsAlone(s string, start, end int) bool {
	if start > 0 {
		last := s[start-1]
		below := last == '/' && strings.Contains(s[start:end], "/") // a folder, as a link names it
		if !below && (last == '.' || inName(last)) {
			return false
		}
	}
	rest := strings.TrimPrefix(s[end:], ".")
	return rest == "" || !inName(rest[0]) || len(rest) < len(s)-end && !alnum(rest[0])
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func inName(c byte) bool { return alnum(c) || strings.IndexByte("_-/\\%+", c) >= 0 }

var (
	codeText     = regexp.MustCompile("`+([^`]+)`+")
	bracketText  = regexp.MustCompile(`[\[(（【]([^\[\](（）)【】]{1,300})[\])）】]`)
	lastBrackets = regexp.MustCompile(`\s*[(（][^()（）]{0,100}[)）][\s.*_]*$`)
)

// MaxLine bounds the text in which a document or title is looked for, in bytes.
const MaxLine = 4000

// MatchText finds the source whose document key a line names: as the whole line, behind the last dash or colon, in
// brackets or code, or a file's name as a word of its own. at is -1 when no source is named; key is how the line names
// the document, and empty when it names none.
func (r *Registry) MatchText(line string) (at int, key string) {
	line = line[:min(len(line), MaxLine)]
	if !r.documents.words && !strings.Contains(line, ".") {
		return -1, "" // no file is named
	}
	line = norm.NFC.String(text.Line(line))
	plain := strings.Trim(markdown.Plain(line), nameMarks)
	candidates := []string{plain}
	if cut := lastBrackets.ReplaceAllString(plain, ""); cut != plain {
		candidates = append(candidates, strings.Trim(cut, nameMarks))
	}
	for _, named := range candidates {
		for _, sep := range []string{" - ", " – ", " — ", ": ", "：", " | "} {
			if i := strings.LastIndex(named, sep); i >= 0 {
				candidates = append(candidates, strings.Trim(named[i+len(sep):], nameMarks))
			}
		}
	}
	for _, m := range append(codeText.FindAllStringSubmatch(line, 8), bracketText.FindAllStringSubmatch(plain, 8)...) {
		candidates = append(candidates, strings.Trim(m[1], "*_ "))
	}
	for _, named := range candidates {
		file, page := ParseKey(named)
		name, _, _ := strings.Cut(file, "#")
		for _, f := range []string{file, name} {
			if at, ok := r.documents.find(f, page); ok {
				return at, named
			}
		}
		if key == "" && isFile(name) {
			key = named
		}
	}
	_, page := ParseKey(plain)
	if at, ok := r.documents.within(plain, page); ok {
		return at, r.sources[at].Key
	}
	return -1, key
}

// nameMarks may stand around the name of a document.
const nameMarks = "*_ .,;:`"

// foldTitle returns the form in which titles are compared.
func foldTitle(title string) string {
	t := strings.Trim(markdown.Plain(norm.NFC.String(text.Line(title))), "*_`\"“”「」《》[] ")
	t = strings.Trim(lastBrackets.ReplaceAllString(t, ""), "*_`\"“”:：. ")
	return strings.ToLower(t)
}

// Titled returns the only source that has this line as its title, and -1 when there is none. A line with a semicolon
// may name several.
func (r *Registry) Titled(line string) int {
	if len(line) > MaxLine || strings.ContainsAny(line, ";；") {
		return -1
	}
	if at, only := r.titles[foldTitle(line)]; only && at >= 0 {
		return at
	}
	return -1
}

// PlaceOf tells sources apart: their address, else their document and page.
func PlaceOf(s Source) string {
	if u := address.Normalize(s.URL); u != "" {
		return u
	}
	file, page := ParseKey(s.Key)
	if page > 0 {
		file += "\x00" + strconv.Itoa(page)
	}
	return strings.ToLower(file)
}

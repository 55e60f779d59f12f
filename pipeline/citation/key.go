package citation

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// pageSuffix is what may follow a document's name: ", p.15", " p15", ", pages 3-4", " (S. 7)", "#page=3", " 第15页".
var pageSuffix = regexp.MustCompile(`(?i)(?:(?:\s*[,;:]\s*|\s+|\s*\()\(?(?:pp?\.?|pages?|pg\.?|seiten?|s\.|página|pág\.?)\s*(\d{1,6})(?:\s*[-–—,]\s*\d{1,6})*|#page=(\d{1,6})|\s*,?\s*第\s*(\d{1,6})\s*页)\)?[\s.,;]*$`)

// ParseKey takes a document key apart: "handbook.pdf, p.15" is page 15 of handbook.pdf. Page 0 means that none is named.
func ParseKey(key string) (file string, page int) {
	key = fold(key)
	end := strings.TrimSuffix(strings.TrimRight(key, " .,;"), ")")
	if last := len(end) - 1; last < 0 || !isDigit(end[last]) && !strings.HasSuffix(end, "页") { // nearly every line of a report
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

// fileName is how a file looks: a name and an extension of 1 to 5 characters that begins with a letter.
var fileName = regexp.MustCompile(`(?i)^[^\s./][^/\n]{0,200}(?:/[^/\n]{1,200})*\.[a-z][a-z0-9_]{1,4}$`)

func isFile(name string) bool { return len(name) < 1000 && fileName.MatchString(name) }

// documents finds sources by document key.
type documents struct {
	exact map[string][]int    // by folded file: sources, one for each page
	base  map[string][]string // by the last part of the path
	last  map[string][]string // names that are files, by their last word, to be looked for in a line
	words bool                // there are names that are no files
}

func (d *documents) add(key string, source int) {
	file, _ := ParseKey(key)
	name := strings.ToLower(file)
	if name == "" {
		return
	}
	if d.exact == nil {
		d.exact, d.base, d.last = map[string][]int{}, map[string][]string{}, map[string][]string{}
	}
	if _, known := d.exact[name]; !known {
		d.base[path.Base(name)] = append(d.base[path.Base(name)], name)
		if isFile(name) {
			ws := fileWords(name)
			d.last[ws[len(ws)-1]] = append(d.last[ws[len(ws)-1]], name)
		} else {
			d.words = true
		}
	}
	d.exact[name] = append(d.exact[name], source)
}

// find returns the sources of a document, by its name or by the last part of its path where only one document has it.
func (d *documents) find(file string) []int {
	name := strings.ToLower(file)
	if found := d.exact[name]; found != nil {
		return found
	}
	if names := d.base[name]; len(names) == 1 && isFile(name) {
		return d.exact[names[0]]
	}
	return nil
}

// within returns the sources of the longest file name that stands in a line as a word of its own.
func (d *documents) within(line string) []int {
	line = strings.ToLower(line)
	var longest string
	seen := map[string]bool{}
	for _, w := range fileWords(line) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, name := range d.last[w] {
			if len(name) > len(longest) && holdsWord(line, name) {
				longest = name
			}
		}
	}
	if longest == "" {
		return nil
	}
	return d.exact[longest]
}

// fileWords cuts a line where the name of a file may begin or end.
func fileWords(line string) []string {
	ws := strings.FieldsFunc(line, func(r rune) bool { return r > 0x7f || strings.ContainsRune(" \t\n\"'`()[]{}<>|,;:*#/", r) })
	for i, w := range ws {
		ws[i] = strings.Trim(w, "_.")
	}
	return append(ws, "")[:max(1, len(ws))]
}

// holdsWord reports whether name stands in s and is no part of a longer name.
func holdsWord(s, name string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		before := start == 0 || !alnumASCII(s[start-1]) && strings.IndexByte("_-/.\\%+", s[start-1]) < 0 ||
			s[start-1] == '/' && strings.Contains(name, "/") // below a folder, as a link names it
		after := end == len(s) || !alnumASCII(s[end]) && strings.IndexByte("_-/\\%+", s[end]) < 0 &&
			!(s[end] == '.' && end+1 < len(s) && alnumASCII(s[end+1]))
		if before && after {
			return true
		}
		at = start + 1
	}
}

func alnumASCII(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

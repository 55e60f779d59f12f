package citation

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/text"
)

var (
	codeText     = regexp.MustCompile("`+([^`]+)`+")
	bracketText  = regexp.MustCompile(`[\[(（【]([^\[\](（）)【】]{1,300})[\])）】]`)
	lastBrackets = regexp.MustCompile(`\s*[(（][^()（）]{0,100}[)）][\s.*_]*$`)
)

// maxLine bounds the text in which a document or title is looked for, in bytes.
const maxLine = 4000

// matchText finds the source whose document key a line names: as the whole line, behind the last dash or colon, in
// brackets or code, or a file's name as a word of its own. at is -1 when no source is named; key is how the line names
// the document, and empty when it names none.
func (c *catalog) matchText(line string) (at int, key string) {
	line = line[:min(len(line), maxLine)]
	if !c.documents.words && !strings.Contains(line, ".") {
		return -1, "" // no file is named
	}
	line = norm.NFC.String(text.Line(line))
	plain := strings.Trim(Unescape(line), "*_ .,;:`")
	candidates := []string{plain}
	if cut := lastBrackets.ReplaceAllString(plain, ""); cut != plain {
		candidates = append(candidates, strings.Trim(cut, "*_ .,;:`"))
	}
	for _, named := range candidates {
		for _, sep := range []string{" - ", " – ", " — ", ": ", "：", " | "} {
			if i := strings.LastIndex(named, sep); i >= 0 {
				candidates = append(candidates, strings.Trim(named[i+len(sep):], "*_ .,;:`"))
			}
		}
	}
	if strings.Contains(plain, " · ") {
		candidates = append(candidates, strings.Split(plain, " · ")...)
	}
	for _, m := range codeText.FindAllStringSubmatch(line, 8) {
		candidates = append(candidates, m[1])
	}
	for _, m := range bracketText.FindAllStringSubmatch(plain, 8) {
		candidates = append(candidates, strings.Trim(m[1], "*_ "))
	}
	for _, named := range candidates {
		file, page := ParseKey(named)
		name, _, _ := strings.Cut(file, "#")
		for _, f := range []string{file, name} {
			if at, ok := c.documents.find(f, page); ok {
				return at, named
			}
		}
		if key == "" && isFile(name) {
			key = named
		}
	}
	_, page := ParseKey(plain)
	if at, ok := c.documents.within(plain, page); ok {
		return at, c.sources[at].Key
	}
	return -1, key
}

// foldTitle returns the form in which titles are compared.
func foldTitle(title string) string {
	t := strings.Trim(Unescape(norm.NFC.String(text.Line(title))), "*_`\"“”「」《》[] ")
	t = strings.Trim(lastBrackets.ReplaceAllString(t, ""), "*_`\"“”:：. ")
	return strings.ToLower(t)
}

// titled returns the only source that has this line as its title, and -1 when there is none. A line with a semicolon
// may name several.
func (c *catalog) titled(line string) int {
	if len(line) > maxLine || strings.ContainsAny(line, ";；") {
		return -1
	}
	if at, only := c.titles[foldTitle(line)]; only && at >= 0 {
		return at
	}
	return -1
}

// placeOf tells sources apart: their address, else their document and page.
func placeOf(s Source) string {
	if u := NormalizeURL(s.URL); u != "" {
		return u
	}
	file, page := ParseKey(s.Key)
	if page > 0 {
		file += "\x00" + strconv.Itoa(page)
	}
	return strings.ToLower(file)
}

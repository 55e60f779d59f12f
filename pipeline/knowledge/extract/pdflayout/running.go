package pdflayout

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// edgeLines is the number of lines at the top and at the bottom of a page that are checked for running titles.
const edgeLines = 3

var (
	romanNumeral = regexp.MustCompile(`^[ivxlc]{1,7}$`)
	pageNumber   = regexp.MustCompile(`^(?:\D{0,3}|page |seite |p\. ?)(\d{1,4})(?:\D{0,3}|(?: of| /| von| sur| de) \d+)$`)
	firstNumber  = regexp.MustCompile(`^(\d{1,4})\b`)
	lastNumber   = regexp.MustCompile(`\b(\d{1,4})$`)
	leaders      = regexp.MustCompile(`(?:[.·…] ?){4,}[ \d]*[\divxlc-]*$`)
	indexEntry   = regexp.MustCompile(`,\s*(?:\d+(?:[–-]\d+)?,\s*)*\d+(?:[–-]\d+)?[.,]?$`)
)

// withoutRunning drops repeated lines (running titles, page numbers and stamps), and tables of contents and
// back-of-book indexes, which contain no statements.
func withoutRunning(pages [][]textLine, heights []float64) [][]textLine {
	edge := make([]map[int]bool, len(pages)) // lines near the edges of each page, by index
	for i, lines := range pages {
		edge[i] = edgesOf(lines, heights[i])
	}
	r := countRunning(pages, edge)
	out := make([][]textLine, len(pages))
	for i, lines := range pages {
		for k, line := range lines {
			if !edge[i][k] || !r.isRunning(line, i) {
				out[i] = append(out[i], line)
			}
		}
		out[i] = withoutLists(out[i])
	}
	return out
}

// running holds counts of the lines near the edges of the pages of a document.
type running struct {
	pages    int
	repeated map[string]int // pages with a line, by runningKey
	atHeight map[string]int // lines by height, as in runningKey
	titles   map[string]int // of these, those that are repeated
	numbered int            // lines that are a page number
	counted  bool           // pages are numbered, and the number is the page's index plus shift
	shift    int
}

func countRunning(pages [][]textLine, edge []map[int]bool) *running {
	r := &running{
		pages: len(pages), repeated: map[string]int{}, atHeight: map[string]int{}, titles: map[string]int{},
	}
	offsets := map[int]int{} // pages by the difference between a number on it and its index
	for i, lines := range pages {
		seen := map[string]bool{}
		shifts := map[int]bool{}
		for k := range edge[i] {
			if key := runningKey(lines[k]); !seen[key] {
				seen[key] = true
				r.repeated[key]++
			}
			for _, n := range numbersAt(lines[k]) {
				shifts[n-i] = true
			}
			if pageNumber.MatchString(strings.ToLower(lines[k].text)) {
				r.numbered++
			}
		}
		for s := range shifts {
			offsets[s]++
		}
	}
	most := 0
	for s, n := range offsets {
		if n > most || n == most && s < r.shift {
			r.shift, most = s, n
		}
	}
	r.counted = most >= 3 && most*3 >= len(pages)
	for i, lines := range pages {
		for k := range edge[i] {
			key := runningKey(lines[k])
			r.atHeight[heightIn(key)]++
			if r.isRepeated(key) {
				r.titles[heightIn(key)]++
			}
		}
	}
	return r
}

func (r *running) isRepeated(key string) bool {
	return r.pages > 1 && r.repeated[key] >= min(3, r.pages)
}

// isRunning reports whether a line near the edge of the page with index i is repeated or counts the pages.
func (r *running) isRunning(line textLine, i int) bool {
	// the first body line is also at the same height on every page, but its text rarely repeats
	if key := runningKey(line); r.isRepeated(key) && r.titles[heightIn(key)]*2 >= r.atHeight[heightIn(key)] {
		return true
	}
	if r.counted && !line.note && len(line.text) < 120 && slices.Contains(numbersAt(line), i+r.shift) {
		return true
	}
	text := strings.ToLower(line.text)
	number := pageNumber.MatchString(text) || romanNumeral.MatchString(text)
	return number && (r.counted || r.pages > 1 && r.numbered*2 > r.pages)
}

// edgesOf returns the first and last lines of a page within its upper and lower sixth.
func edgesOf(lines []textLine, height float64) map[int]bool {
	out := map[int]bool{}
	top, bottom := height/6, height*5/6
	pick := func(better func(a, b textLine) bool, within func(l textLine) bool) {
		for range edgeLines {
			best := -1
			for k, l := range lines {
				if out[k] || !within(l) {
					continue
				}
				if best < 0 || better(l, lines[best]) {
					best = k
				}
			}
			if best < 0 {
				return
			}
			out[best] = true
			for k, l := range lines { // lines at the same height count as one
				if math.Abs(l.y0-lines[best].y0) < 2 && within(l) {
					out[k] = true
				}
			}
		}
	}
	pick(func(a, b textLine) bool { return a.y0 < b.y0 }, func(l textLine) bool { return l.y0 < top })
	pick(func(a, b textLine) bool { return a.y1 > b.y1 }, func(l textLine) bool { return l.y1 > bottom })
	return out
}

func textOf(l textLine) string {
	if l.cells != nil {
		return strings.TrimSpace(strings.Join(l.cells, " "))
	}
	return l.text
}

// runningKey returns a key that is equal for lines at the same height that differ only in numbers.
func runningKey(l textLine) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '#'
		case unicode.IsSpace(r):
			return -1
		}
		return unicode.ToLower(r)
	}, textOf(l))
	for strings.Contains(text, "##") {
		text = strings.ReplaceAll(text, "##", "#")
	}
	return text + "@" + strconv.Itoa(int(math.Round((l.y0+l.y1)/2/5)))
}

func numbersAt(l textLine) []int {
	var out []int
	text := strings.Trim(textOf(l), "-–—|[]() ")
	for _, re := range []*regexp.Regexp{firstNumber, lastNumber} {
		if m := re.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1])
			out = append(out, n)
		}
	}
	return out
}

// heightIn returns the height in a key.
func heightIn(key string) string { return key[strings.LastIndexByte(key, '@'):] }

// withoutLists drops entries of a table of contents, and all lines of a page from a back-of-book index.
func withoutLists(lines []textLine) []textLine {
	dots, entries := 0, 0
	for _, l := range lines {
		t := textOf(l)
		if leaders.MatchString(t) {
			dots++
		}
		if indexEntry.MatchString(t) {
			entries++
		}
	}
	if len(lines) >= 20 && entries*5 >= len(lines)*3 {
		return nil
	}
	if dots < 3 {
		return lines
	}
	var out []textLine
	for _, l := range lines {
		t := textOf(l)
		if leaders.MatchString(t) || dots*3 >= len(lines) && lastNumber.MatchString(t) || contentsTitle[strings.ToLower(t)] {
			continue
		}
		out = append(out, l)
	}
	return out
}

var contentsTitle = map[string]bool{
	"contents": true, "table of contents": true, "inhalt": true, "inhaltsverzeichnis": true, "sommaire": true,
	"table des matières": true, "índice": true, "indice": true, "目录": true, "目次": true,
}

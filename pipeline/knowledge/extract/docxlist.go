package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// docxLists holds the numbering formats of a document's lists and their current counts.
type docxLists struct {
	levels map[string]map[int]docxLevel // keyed by abstract list
	lists  map[string]docxList
	counts map[string][9]int // keyed by abstract list
}

type docxList struct {
	abstract string
	starts   map[int]int // overridden start numbers
	begun    bool
}

type docxLevel struct {
	format string
	text   string // "%1.%2"
	start  int
}

func (f *archive) numbering(name string) (*docxLists, error) {
	l := &docxLists{levels: map[string]map[int]docxLevel{}, lists: map[string]docxList{}, counts: map[string][9]int{}}
	d, err := f.open(name)
	if d == nil || err != nil {
		return l, err
	}
	abstract, list, level := "", "", 0
	set := func(change func(*docxLevel)) {
		if abstract == "" {
			return
		}
		v := l.levels[abstract][level]
		change(&v)
		l.levels[abstract][level] = v
	}
	err = elements(d, func(e xml.StartElement) {
		switch e.Name.Local {
		case "abstractNum":
			abstract, list = attr(e, "abstractNumId"), ""
			l.levels[abstract] = map[int]docxLevel{}
		case "num":
			abstract, list = "", attr(e, "numId")
			l.lists[list] = docxList{starts: map[int]int{}}
		case "abstractNumId":
			if o, ok := l.lists[list]; ok {
				o.abstract = attr(e, "val")
				l.lists[list] = o
			}
		case "lvl", "lvlOverride":
			level = atoi(attr(e, "ilvl"), 0)
			if e.Name.Local == "lvl" {
				set(func(v *docxLevel) { v.start = 1 })
			}
		case "startOverride":
			if o, ok := l.lists[list]; ok {
				o.starts[level] = atoi(attr(e, "val"), 1)
			}
		case "numFmt":
			set(func(v *docxLevel) { v.format = attr(e, "val") })
		case "lvlText":
			set(func(v *docxLevel) { v.text = attr(e, "val") })
		case "start":
			set(func(v *docxLevel) { v.start = atoi(attr(e, "val"), 1) })
		}
	})
	if err != nil {
		return nil, damage(err)
	}
	return l, nil
}

// next advances a list and returns the printed number of the item, such as "1.2." or "b)". It returns "-" for a bullet
// and "" for an item without a number or list.
func (l *docxLists) next(list string, level int) string {
	o, ok := l.lists[list]
	if !ok || list == "0" || level < 0 || level > 8 {
		return ""
	}
	levels := l.levels[o.abstract]
	counts := l.counts[o.abstract]
	if !o.begun {
		for k, start := range o.starts {
			if k >= 0 && k < len(counts) {
				counts[k] = start - 1
				for i := k + 1; i < len(counts); i++ {
					counts[i] = 0
				}
			}
		}
		o.begun = true
		l.lists[list] = o
	}
	if counts[level] == 0 {
		counts[level] = max(0, levels[level].start-1)
	}
	counts[level]++
	for i := level + 1; i < len(counts); i++ {
		counts[i] = 0
	}
	l.counts[o.abstract] = counts
	this := levels[level]
	switch this.format {
	case "bullet", "":
		return "-"
	case "none":
		return ""
	}
	out := this.text
	for i := 0; i <= level; i++ {
		n := counts[i]
		if n == 0 {
			n = max(1, levels[i].start)
		}
		out = strings.ReplaceAll(out, "%"+strconv.Itoa(i+1), printed(n, levels[i].format))
	}
	return strings.TrimSpace(out)
}

// printed formats a number in one of Word's number formats.
func printed(n int, format string) string {
	switch format {
	case "lowerLetter", "upperLetter":
		s := strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, 5))
		if format == "upperLetter" {
			return strings.ToUpper(s)
		}
		return s
	case "lowerRoman", "upperRoman":
		s := roman(n)
		if format == "upperRoman" {
			return strings.ToUpper(s)
		}
		return s
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, r := range []struct {
		value int
		text  string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"},
		{9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.text)
		}
	}
	return b.String()
}

func atoi(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 || n > 1<<20 {
		return def
	}
	return n
}

package citation

import "strings"

// parsePlain reads a list whose entries have neither numbers nor bullets: a paragraph with one address is an entry,
// and of a paragraph with several each line that has one ends an entry.
func (p *entryParser) parsePlain(first int) []*entry {
	for i := first; i < len(p.lines); {
		if h, ok := p.heading(i); p.lines[i].code || strings.TrimSpace(p.lines[i].of(p.text)) == "" || ok && !h.plain {
			i++
			continue
		}
		end, addresses := i, 0
		for end < len(p.lines) && !p.lines[end].code && strings.TrimSpace(p.lines[end].of(p.text)) != "" &&
			(end == i || p.goesOn(end)) {
			if hasAddress(p.lines[end].of(p.text)) {
				addresses++
			}
			end++
		}
		start := i
		for i < end && addresses > 0 {
			if hasAddress(p.lines[i].of(p.text)) && addresses > 1 {
				p.plainEntry(start, i)
				start, addresses = i+1, addresses-1
			}
			if i++; i == end {
				p.plainEntry(start, end-1)
			}
		}
		i = end
	}
	return p.entries
}

// plainEntry adds the lines from first to last as an entry.
func (p *entryParser) plainEntry(first, last int) {
	p.open(first, entryPrefix{style: plainStyle, number: noNumber})
	p.cur.end = p.lines[last].end
	p.close()
}

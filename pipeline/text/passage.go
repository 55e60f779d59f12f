package text

import (
	"strings"
	"unicode/utf8"
)

// Sizes of passages in bytes. English prose has about 6.4 bytes a word; the target is about 200 words.
const (
	passageSize = 1300
	passageMax  = 1800           // of several blocks together
	blockMax    = 2 * passageMax // of one block: a list, a table or code that is read as a whole
)

// Passages divides s into passages of about 200 words, in order, which consist of whole blocks. Only a block of more
// than 3,600 bytes is cut, between its lines; a line that is still too long is cut between its sentences. A block for
// which starts returns true begins a passage, unless the passage before it would be too small; starts may be nil. Only
// white space is between passages. Never fails.
func Passages(s string, starts func(block string) bool) []Block {
	all := portions(s)
	if len(all) == 0 {
		return nil
	}
	end := all[len(all)-1].End
	var out []Block
	now, want := all[0], share(end-all[0].Start)
	for _, p := range all[1:] {
		have, more := now.End-now.Start, p.End-now.Start
		apart := starts != nil && have >= passageSize/4 && starts(s[p.Start:p.End])
		if apart || more > passageMax || more-want > want-have {
			out = append(out, now)
			now, want = p, share(end-p.Start)
			continue
		}
		now.End = p.End
	}
	return append(out, now)
}

// share returns the size of the passages if size bytes are divided evenly.
func share(size int) int { return size / ((size + passageSize - 1) / passageSize) }

// portions returns the blocks of s, with too large blocks cut into lines and sentences.
func portions(s string) []Block {
	var out []Block
	for _, b := range Blocks(s) {
		if b.End-b.Start <= blockMax {
			out = append(out, b)
			continue
		}
		for at, line := range lines(s[b.Start:b.End]) {
			if strings.TrimSpace(line) != "" {
				at += b.Start
				out = append(out, pieces(s, at, at+len(line))...)
			}
		}
	}
	return out
}

// pieces cuts a line that is too long for a passage: after a sentence, else at white space, else between characters.
func pieces(s string, start, end int) []Block {
	var out []Block
	for end-start > passageMax {
		window := s[start : start+passageMax]
		at := -1
		for _, mark := range []string{". ", "! ", "? ", "。", "！", "？", "; ", " "} {
			if i := strings.LastIndex(window, mark); i > passageMax/3 {
				at = i + len(strings.TrimRight(mark, " "))
				break
			}
		}
		if at < 0 {
			for at = passageMax; at > 1 && !utf8.RuneStart(s[start+at]); at-- {
			}
		}
		out = append(out, Block{start, start + at})
		start += at
		for start < end && s[start] == ' ' {
			start++
		}
	}
	if start < end {
		out = append(out, Block{start, end})
	}
	return out
}

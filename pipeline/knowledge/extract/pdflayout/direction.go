package pdflayout

import (
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// minTurned and minTurnedRows are the least numbers of words and of lines of a turned region. Less is a note in a
// margin or the label of an axis.
const (
	minTurned     = 20
	minTurnedRows = 3
)

// directions splits a page by the direction of its text. Each part is turned so that its text runs from left to right.
// The first part is upright, if there is any upright text.
func directions(p pdf.Page) []pdf.Page {
	words, weight := map[int][]pdf.Word{}, map[int]int{}
	most := 0
	for _, w := range p.Words {
		words[w.Turn] = append(words[w.Turn], w)
		weight[w.Turn] += utf8.RuneCountInString(w.Text)
		most = max(most, weight[w.Turn])
	}
	var out []pdf.Page
	for _, turn := range []int{0, 90, 180, 270, -1} {
		part := turned(p, words[turn], turn)
		large := turn >= 0 && len(part.Words) >= minTurned && weight[turn]*4 >= most &&
			len(cluster(part.Words)) >= minTurnedRows
		if len(part.Words) > 0 && (turn == 0 || weight[turn] == most || large) {
			out = append(out, part)
		}
	}
	return out
}

// turned returns words of a page on a page that is turned back by the angle of the words.
func turned(p pdf.Page, words []pdf.Word, turn int) pdf.Page {
	out := pdf.Page{Width: p.Width, Height: p.Height, Words: words}
	if turn == 90 || turn == 270 {
		out.Width, out.Height = p.Height, p.Width
	}
	for i, w := range words {
		switch turn {
		case 90:
			w.X0, w.X1, w.Y0, w.Y1 = w.Y0, w.Y1, p.Width-w.X1, p.Width-w.X0
		case 180:
			w.X0, w.X1, w.Y0, w.Y1 = p.Width-w.X1, p.Width-w.X0, p.Height-w.Y1, p.Height-w.Y0
		case 270:
			w.X0, w.X1, w.Y0, w.Y1 = p.Height-w.Y1, p.Height-w.Y0, w.X0, w.X1
		}
		words[i] = w
	}
	return out
}

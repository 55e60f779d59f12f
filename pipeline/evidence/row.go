package evidence

import (
	"strings"

	"nightdesk/pipeline/quantity"
)

// rowOf returns the cells of a row of a table, each understood by itself; nil when the text is none.
func rowOf(c Claim) []said {
	text := c.statement()
	if len(text) < 2 || text[0] != '|' || text[len(text)-1] != '|' {
		return nil
	}
	var cells []said
	for cell := range strings.SplitSeq(text[1:len(text)-1], "|") {
		c.Text, c.Quote = strings.TrimSpace(cell), ""
		cells = append(cells, understand(c))
	}
	if len(cells) < 2 {
		return nil
	}
	return cells
}

// rowShared returns how many cells two rows share, place by place; ok is false when they are not two rows of one form.
func rowShared(a, b said) (n int, ok bool) {
	if len(a.row) == 0 || len(a.row) != len(b.row) {
		return 0, false
	}
	for i := range a.row {
		if a.row[i].sameCell(b.row[i]) {
			n++
		}
	}
	return n, true
}

// sameCell reports cells with the same words, figures written in whatever way.
func (s said) sameCell(o said) bool {
	words := func(s said) string {
		var rest strings.Builder
		at := 0
		for _, q := range quantity.Parse(s.text) {
			rest.WriteString(s.text[at:q.Start] + " ")
			at = q.End
		}
		return strings.Join(strings.FieldsFunc(strings.ToLower(rest.String()+s.text[at:]), notLetter), " ")
	}
	if strings.EqualFold(s.text, o.text) {
		return true
	}
	a, b := s.cellFigures(), o.cellFigures()
	return len(a) > 0 && len(a) == len(b) && words(s) == words(o) && ofTwoDays.equal(a, b)
}

// cellFigures are the figures of a cell; 1575 is a year in a sentence, and beside 1,575 a number.
func (s said) cellFigures() []value {
	list := s.figures()
	for i, v := range list {
		if v.Kind == quantity.Date && v.When == (quantity.When{Year: v.When.Year}) && v.To.Zero() {
			list[i].Kind = quantity.Number
		}
	}
	return list
}

// rowTurned reports that the row of one label has another cell than before, and returns the first such.
func rowTurned(a, b said) (Turn, bool) {
	if !a.row[0].sameCell(b.row[0]) {
		return Turn{}, false
	}
	for i := range a.row {
		old, now := a.row[i], b.row[i]
		if old.sameCell(now) {
			continue
		}
		t := Turn{Kind: ContradictsValue, Old: old.text, New: now.text}
		switch figures := now.figures(); {
		case len(figures) == 0:
			t.Kind = TurnedName
		case figures[0].Kind == quantity.Date && figures[0].When != quantity.When{Year: figures[0].When.Year}:
			t.Kind = ContradictsDate
		}
		return t, true
	}
	return Turn{}, false
}

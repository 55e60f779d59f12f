package support

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/quantity"
)

// maxOperands is the maximum number of figures from which a value is computed, because all pairs are tried.
const maxOperands = 100

// operand is a figure of a source.
type operand struct {
	value
	doc   *document // nil: it is in the metadata of a source
	place int       // index of its unit in doc
	named bool      // whether the sentence itself has it
	far   bool      // whether it is in an irrelevant row of a table that has a relevant row
}

// spans returns the positions of operands.
func spans(operands ...operand) []Span {
	var out []Span
	for _, o := range operands {
		if o.doc != nil {
			out = append(out, Span{o.doc.ID, o.Start, o.End})
		}
	}
	return out
}

// operandsIn returns the figures of the relevant units, best units first, and the dates of the sources.
func operandsIn(docs []*document, near units) []operand {
	var out []operand
	for _, d := range docs {
		tables := d.tables(near[d])
		for i, v := range d.values {
			u := d.unitAt(v.Start)
			_, bears := near[d][u]
			far := !bears && d.units[u].row && tables[d.units[u].lead]
			if (bears || far) && v.Kind != quantity.Label && v.Kind != quantity.Ordinal {
				out = append(out, operand{value: v, doc: d, place: u, far: far})
				if day, ok := v.dayOf(d.values[i+1:]); ok {
					out = append(out, operand{value: day, doc: d, place: u})
				}
			}
		}
	}
	rank := func(o operand) int {
		if r, bears := near[o.doc][o.place]; bears {
			return r
		}
		return len(o.doc.units) // after the relevant units
	}
	slices.SortStableFunc(out, func(a, b operand) int { return rank(a) - rank(b) })
	out = out[:min(len(out), maxOperands)]
	for _, d := range docs {
		for _, v := range d.about {
			if v.Kind == quantity.Date {
				out = append(out, operand{value: v})
			}
		}
	}
	return out
}

// tables returns the leads of tables that have a relevant row. A sentence that compares rows may name only one of them.
func (d *document) tables(near map[int]int) map[int]bool {
	out := map[int]bool{}
	for u := range near {
		if u >= 0 && u < len(d.units) && d.units[u].row {
			out[d.units[u].lead] = true
		}
	}
	return out
}

// dayOf returns a bare number before a date as a day of that date's month: 3 to 16 June.
func (v value) dayOf(next []value) (value, bool) {
	if len(next) == 0 || !v.bare() || next[0].When.Day == 0 || next[0].Start-v.End > maxGap {
		return v, false
	}
	day := next[0]
	day.When.Day, day.Start, day.End, day.text = int(v.Low), v.Start, v.End, v.text
	return day, v.Low == math.Trunc(v.Low) && v.Low > 0 && v.Low < float64(next[0].When.Day)
}

// link is the distance of two operands.
type link int

const (
	together link = iota // in the same sentence or row, or both in the checked sentence
	column               // in the same table column
	beside               // in neighbouring sentences, or in a table and the line above it
	section              // below the same heading
	apart
	crossed // in different rows and columns of one table; such pairs are not computed
)

func (a operand) linkTo(b operand) link {
	if a.named && b.named {
		return together
	}
	if a.doc == nil || a.doc != b.doc {
		return apart
	}
	if a.place == b.place {
		return together
	}
	one, two := a.doc.units[a.place], a.doc.units[b.place]
	switch {
	case one.row && two.row && one.lead == two.lead && a.column() == b.column():
		return column
	case one.row && two.row && one.lead == two.lead:
		return crossed
	case max(a.place-b.place, b.place-a.place) <= 1, one.row && one.lead == b.place, two.row && two.lead == a.place:
		return beside
	case one.heading == two.heading:
		return section
	}
	return apart
}

// column returns the column of a figure in a table row.
func (o operand) column() int {
	return strings.Count(strings.TrimLeft(o.doc.Text[o.doc.units[o.place].start:o.Start], "| "), "|")
}

// derive returns how a figure can be computed from others, or "": from two as difference, sum, mean, share, percent
// change, ratio, product or quotient; as the sum of a sentence or column; as the rest to 100%; or as the time between
// two dates.
func derive(v value, operands []operand) (operation string, used []Span) {
	if v.Kind == quantity.Label {
		return "", nil
	}
	v = v.computed()
	best := crossed
	for i, a := range operands {
		for _, b := range operands[i+1:] {
			link := a.linkTo(b)
			if link >= best || link != together && (a.small() || b.small()) {
				continue // small numbers match by chance
			}
			if oneFar := a.far != b.far; a.far && b.far || oneFar && link != column {
				continue
			}
			for _, pair := range [2][2]operand{{a, b}, {b, a}} {
				if by := v.by(pair[0], pair[1], link); by != "" {
					best, operation, used = link, by, spans(pair[:]...)
				}
			}
		}
	}
	if operation != "" {
		return operation, used
	}
	for _, group := range groupsOf(operands) {
		if operation := v.ofGroup(group); operation != "" {
			return operation, spans(group...)
		}
	}
	return "", nil
}

// by returns the operation that gives v from a and b, in this order, in any of their readings; "" if there is none.
func (v value) by(a, b operand, link link) string {
	counted := func(noun string) bool { // 12 euros per head from 6,000 euros and 500 heads
		if b.doc == nil {
			return false
		}
		behind := b.doc.Text[b.End:min(len(b.doc.Text), b.End+maxGap)]
		return strings.HasPrefix(strings.ToLower(strings.TrimLeft(behind, " \u00a0")), noun)
	}
	for v := range v.meant {
		for a := range a.meant {
			for b := range b.meant {
				if noun, by := strings.CutPrefix(v.Unit, a.Unit+"/"); by && b.bare() && counted(noun) && v.near(a.Low/b.Low) {
					return a.text + " / " + b.text
				}
				if link >= apart {
					continue // among so many pairs, some give any number by chance
				}
				if link > beside && (a.Kind != b.Kind || a.Unit != b.Unit || a.Kind == quantity.Number) {
					continue // distant figures must have the same unit
				}
				if operation := v.from(a, b, link <= beside); operation != "" {
					return operation
				}
			}
		}
	}
	return ""
}

// from returns the operation that gives v from a and b, in this order, or "". near: they are close to each other.
func (v value) from(a, b value, near bool) string {
	if v.Kind == quantity.Date || a.Kind == quantity.Date || b.Kind == quantity.Date {
		return v.fromDates(a, b)
	}
	if a.Unit == "K" && b.Unit == "K" && (v.Unit == "K" || v.Unit == "deg") { // degrees of any scale
		v.Low = v.Digits
		if v.near(math.Abs(a.Digits - b.Digits)) {
			return a.text + " - " + b.text
		}
		return ""
	}
	part := near && b.Kind == quantity.Percent && v.Unit != "%"
	times := near && b.bare() && b.Low > 1 && b.Low == math.Trunc(b.Low) // b is a count
	x, ok := v.reading(a, false)
	y, okay := v.reading(b, false)
	switch share := b.Low / 100; {
	case !ok:
	case okay && x > y && v.near(x-y):
		return a.text + " - " + b.text
	case okay && a.Start != b.Start && v.near(x+y):
		return a.text + " + " + b.text
	case part && v.near(x*share):
		return b.text + " of " + a.text
	case part && (v.near(x-x*share) || v.near(x+x*share)):
		return a.text + " changed by " + b.text
	case part && v.near(x/share):
		return "the whole of which " + b.text + " is " + a.text
	case times && v.near(x*b.Low):
		return a.text + " x " + b.text
	case times && v.near(x/b.Low):
		return a.text + " / " + b.text
	}
	ratio := v.Unit == "x" || v.Unit == "" && v.Magnitude <= 1
	clocks := a.Unit == clock && b.Unit == clock && a.Low > b.Low
	quota := a.over(b)
	switch {
	case v.Kind == quantity.Percent && quota < 1 && v.near(100*quota):
		return a.text + " as a share of " + b.text
	case v.Kind == quantity.Percent && quota != 1 && v.near(math.Abs(100*(quota-1))):
		return "change to " + a.text + " from " + b.text
	case ratio && quota > 1 && v.near(quota):
		return a.text + " / " + b.text
	case v.Unit != "" && v.Unit == quotient(a.Unit, b.Unit) && v.near(a.Low/b.Low):
		return a.text + " / " + b.text
	case v.Unit != "" && a.Unit != "" && a.Unit == quotient(v.Unit, b.Unit) && v.near(a.Low*b.Low):
		return a.text + " x " + b.text
	case v.Unit == clock && a.Unit == clock && b.Unit == "s" && math.Abs(math.Abs(v.Low-a.Low)-b.Low) < 60:
		return a.text + " and " + b.text
	case v.Unit == "s" && clocks && v.near(a.Low-b.Low):
		return a.text + " - " + b.text
	}
	return ""
}

// over returns v divided by b after conversion to one unit, or NaN if they have no common unit.
func (v value) over(b value) float64 {
	if y, ok := v.reading(b, false); ok {
		return v.Low / y
	}
	return math.NaN()
}

// quotient returns the unit of a quotient of two units, or "".
func quotient(over, under string) string {
	switch {
	case over == "" || under == "" || over == under:
		return ""
	case over == "J" && under == "s":
		return "W"
	case over == "J" && under == "W":
		return "s"
	case perUnit(under, over): // an expense divided by its yearly return
		return strings.TrimPrefix(under, over+"/")
	}
	return over + "/" + under
}

// fromDates returns how v follows from two dates, or from a date and a duration; "" if it does not.
func (v value) fromDates(a, b value) string {
	switch {
	case a.Kind != quantity.Date || a.year() == 0:
	case v.Kind == quantity.Date && b.Unit == "month" && v.When.Day == 0 && v.When.Quarter == 0:
		for _, months := range []float64{b.Low, -b.Low} {
			then := date(a.day()).AddDate(0, int(months), 1-max(1, a.When.Day))
			if then.Year() == v.When.Year && (v.When.Month == 0 || a.When.Month > 0 && int(then.Month()) == v.When.Month) {
				return fmt.Sprintf("%s %+g months", a.text, months)
			}
		}
	case v.Kind == quantity.Date && b.Unit == "s" && a.When.Day > 0:
		for _, seconds := range []float64{b.Low, -b.Low} {
			then := date(a.day()).Add(time.Duration(seconds) * time.Second)
			w := quantity.When{Year: then.Year(), Month: int(then.Month()), Day: then.Day()}
			if v.When.Day > 0 && v.sameDay(value{Quantity: quantity.Quantity{When: w}}) {
				return fmt.Sprintf("%s %+g days", a.text, seconds/86400)
			}
		}
	case v.Kind != quantity.Date && b.Kind == quantity.Date && b.year() > 0 && v.between(b.day(), a.day()):
		return a.text + " - " + b.text
	}
	return ""
}

func date(w quantity.When) time.Time {
	return time.Date(w.Year, time.Month(max(1, w.Month)), max(1, w.Day), 0, 0, 0, 0, time.UTC)
}

// between reports whether v is the time between two dates, as precisely as both are given.
func (v value) between(from, to quantity.When) bool {
	years := float64(to.Year - from.Year)
	switch {
	case v.Unit == "" && v.Magnitude <= 1: // a bare number of years
		return years > 0 && v.Low == years
	case v.Unit == "month" && (from.Month == 0 || to.Month == 0):
		return years > 0 && v.near(12*years)
	case v.Unit == "month":
		months := 12*years + float64(to.Month-from.Month)
		return months > 0 && (v.near(months) || v.Low == 12*math.Floor(months/12))
	case v.Unit == "s" && v.Low >= 86400 && from.Day > 0 && to.Day > 0:
		days := date(to).Sub(date(from)).Hours() / 24
		return days > 0 && (math.Abs(v.Low/86400-days) <= 1 || v.near(days*86400)) // with or without the first day
	}
	return false
}

// groupsOf returns the figures of one unit in each sentence, and the figures of each table column.
func groupsOf(operands []operand) [][]operand {
	groups := map[string][]operand{}
	var names []string
	for _, o := range operands {
		if o.doc == nil || o.Kind == quantity.Date {
			continue
		}
		name := fmt.Sprint(o.doc.ID, "\x00", o.place, o.Kind, o.Unit)
		if u := o.doc.units[o.place]; u.row {
			name = fmt.Sprint(o.doc.ID, "\x00column", u.lead, o.column())
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], o)
	}
	var out [][]operand
	for _, name := range names {
		group := groups[name]
		slices.SortFunc(group, func(a, b operand) int { return a.Start - b.Start })
		same := func(a, b operand) bool { return a.Start == b.Start } // also listed as a figure of the checked sentence
		out = append(out, slices.CompactFunc(group, same))
	}
	return out
}

// ofGroup returns how v follows from all figures of a group together, or "".
func (v value) ofGroup(group []operand) string {
	sum, texts, sums := 0.0, make([]string, len(group)), []float64{0}
	for i, o := range group {
		x, ok := v.reading(o.value, false)
		for _, s := range o.scales {
			if !ok {
				x, ok = v.reading(o.in(s), false)
			}
		}
		if !ok {
			return ""
		}
		sum, texts[i] = sum+x, o.text
		sums = append(sums, sum)
	}
	if len(v.significant()) > 2 {
		for i := range sums {
			for j := i + 3; j < len(sums); j++ {
				if v.near(sums[j] - sums[i]) {
					return strings.Join(texts[i:j], " + ")
				}
			}
		}
	}
	switch {
	case len(group) > 1 && v.near(sum):
		return strings.Join(texts, " + ")
	case v.Kind == quantity.Percent && sum < 100 && v.near(100-sum):
		return "100% - " + strings.Join(texts, " - ")
	case len(group) > 1 && v.near(sum/float64(len(group))):
		return "mean of " + strings.Join(texts, ", ")
	}
	return ""
}

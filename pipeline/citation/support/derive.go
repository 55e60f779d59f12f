package support

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/quantity"
)

// maxOperands bounds the figures that a value may be computed from: pairs of them are tried.
const maxOperands = 60

// operand is a figure of a source.
type operand struct {
	value
	doc   *document // nil: it stands in what else is known of a source
	place int       // the unit of doc
}

// spans returns where operands stand.
func spans(operands ...operand) []Span {
	var out []Span
	for _, o := range operands {
		if o.doc != nil {
			out = append(out, Span{o.doc.ID, o.Start, o.End})
		}
	}
	return out
}

// operandsIn returns the figures of the units that bear on a sentence, and the dates of the sources.
func operandsIn(docs []*document, near units) []operand {
	var out []operand
	for _, d := range docs {
		for _, v := range d.values {
			named := v.Kind == quantity.Label || v.Kind == quantity.Ordinal
			if u := d.unitAt(v.Start); !named && near[d][u] && len(out) < maxOperands {
				out = append(out, operand{v, d, u})
			}
		}
		for _, v := range d.about {
			if v.Kind == quantity.Date && len(out) < maxOperands {
				out = append(out, operand{v, nil, 0})
			}
		}
	}
	return out
}

// derive returns how a figure can be computed from others: from two as difference, sum, mean, share, percent
// change, ratio, product or quotient, as the sum of a sentence or column, as what is left of 100%, or as the time
// between two dates; "" when it cannot.
func derive(v value, operands []operand) (operation string, used []Span) {
	if v.Kind == quantity.Label {
		return "", nil
	}
	for i, a := range operands {
		for _, b := range operands[i+1:] {
			here := a.doc == b.doc && a.place == b.place
			if !here && !(a.figure() && b.figure()) {
				continue // small numbers in words are everywhere
			}
			near := a.doc == b.doc && max(a.place-b.place, b.place-a.place) <= 1
			for _, pair := range [2][2]operand{{a, b}, {b, a}} {
				if operation := v.from(pair[0].value, pair[1].value, near); operation != "" {
					return operation, spans(pair[:]...)
				}
			}
		}
	}
	for _, group := range groupsOf(operands) {
		if operation := v.ofGroup(group); operation != "" {
			return operation, spans(group...)
		}
	}
	return "", nil
}

// from returns the operation by which v comes from a and b, in this order; "" when none does. near: they stand
// close to each other.
func (v value) from(a, b value, near bool) string {
	if v.Kind == quantity.Date || a.Kind == quantity.Date || b.Kind == quantity.Date {
		return v.fromDates(a, b)
	}
	part := near && b.Kind == quantity.Percent && v.Kind != quantity.Percent
	times := near && b.Unit == "" && b.Low > 1
	for _, x := range v.readings(a, false) {
		for _, y := range v.readings(b, false) {
			switch {
			case x > y && v.near(x-y):
				return a.text + " - " + b.text
			case a.Start != b.Start && v.near(x+y):
				return a.text + " + " + b.text
			}
		}
		switch share := b.Low / 100; {
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
	}
	ratio := v.Unit == "x" || v.Unit == "" && v.Magnitude <= 1
	for _, x := range a.over(b) {
		switch {
		case v.Kind == quantity.Percent && x < 1 && v.near(100*x):
			return a.text + " as a share of " + b.text
		case v.Kind == quantity.Percent && x != 1 && v.near(math.Abs(100*(x-1))):
			return "change to " + a.text + " from " + b.text
		case ratio && x > 1 && v.near(x):
			return a.text + " / " + b.text
		}
	}
	switch {
	case v.Unit != "" && v.Unit == quotient(a.Unit, b.Unit) && v.near(a.Low/b.Low):
		return a.text + " / " + b.text
	case v.Unit != "" && a.Unit == quotient(v.Unit, b.Unit) && v.near(a.Low*b.Low):
		return a.text + " x " + b.text
	case v.Unit == "s" && a.Unit == clock && b.Unit == clock && a.Low > b.Low && v.near(a.Low-b.Low):
		return a.text + " - " + b.text
	}
	return ""
}

// over returns what v divided by b may be: figures of one unit, of which one may leave it to its sentence, or say it
// by time or the like.
func (v value) over(b value) []float64 {
	if v.Unit == b.Unit {
		return []float64{v.Low / b.Low}
	}
	var out []float64
	for _, x := range b.readings(v, false) {
		out = append(out, x/b.Low)
	}
	for _, y := range v.readings(b, false) {
		out = append(out, v.Low/y)
	}
	return out
}

// quotient returns the unit of a quotient of two units; "" when there is none.
func quotient(over, under string) string {
	switch {
	case over == "" || under == "" || over == under:
		return ""
	case over == "J" && under == "s":
		return "W"
	case over == "J" && under == "W":
		return "s"
	case perUnit(under, over): // what is spent, by what comes back a year
		return strings.TrimPrefix(under, over+"/")
	}
	return over + "/" + under
}

// fromDates returns how v comes from two dates, or from a date and a time.
func (v value) fromDates(a, b value) string {
	switch {
	case a.Kind != quantity.Date || a.year() == 0:
	case v.Kind == quantity.Date && b.Unit == "month" && v.When == (quantity.When{Year: v.When.Year}):
		for _, years := range []float64{b.Low / 12, -b.Low / 12} {
			if float64(a.year())+years == float64(v.When.Year) {
				return fmt.Sprintf("%s %+g years", a.text, years)
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
	return time.Date(w.Year, time.Month(w.Month), w.Day, 0, 0, 0, 0, time.UTC)
}

// between reports whether v is the time from one date to another, as far as both say it.
func (v value) between(from, to quantity.When) bool {
	years := float64(to.Year - from.Year)
	switch {
	case v.Unit == "" && v.Magnitude <= 1: // years, without saying so
		return years > 0 && v.Low == years
	case v.Unit == "month" && (from.Month == 0 || to.Month == 0):
		return years > 0 && v.near(12*years)
	case v.Unit == "month":
		months := 12*years + float64(to.Month-from.Month)
		return months > 0 && (v.near(months) || v.Low == 12*math.Floor(months/12))
	case v.Unit == "s" && v.Low >= 86400 && from.Day > 0 && to.Day > 0:
		days := date(to).Sub(date(from)).Hours() / 24
		return days > 0 && math.Abs(v.Low/86400-days) <= 1 // with or without the first day
	}
	return false
}

// groupsOf returns figures of one unit that stand in one sentence, or in one column of a table.
func groupsOf(operands []operand) [][]operand {
	groups := map[string][]operand{}
	var names []string
	for _, o := range operands {
		if o.doc == nil || o.Kind == quantity.Date {
			continue
		}
		name := fmt.Sprint(o.doc.ID, "\x00", o.place, o.Kind, o.Unit)
		if line := o.doc.Text[o.doc.units[o.place].start:o.Start]; strings.Contains(line, "|") {
			name = fmt.Sprint(o.doc.ID, "\x00column", strings.Count(strings.TrimLeft(line, "| "), "|"))
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], o)
	}
	var out [][]operand
	for _, name := range names {
		out = append(out, groups[name])
	}
	return out
}

// ofGroup returns how v comes from all figures of a group together; "" when it does not.
func (v value) ofGroup(group []operand) string {
	sum, texts := 0.0, make([]string, len(group))
	for i, o := range group {
		x := v.readings(o.value, false)
		if len(x) == 0 || slices.Contains(texts, o.text) {
			return ""
		}
		sum, texts[i] = sum+x[0], o.text
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

package topiclist

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// fallback has the values of variables that are not columns of the list.
type fallback struct {
	values  map[string]string
	used    map[string]bool // values that a row has used
	clashes map[string]bool // variables of the list that are columns and have a value here as well
	unknown map[string]bool // words in braces that are neither
}

// has reports whether a variable has a value without a column. It may be nil.
func (f *fallback) has(name string) bool {
	if f == nil {
		return false
	}
	_, ok := f.values[name]
	return ok
}

var braced = regexp.MustCompile(`\{[a-z]+\}`)

// Clashes returns the variables, of what was read so far, that the values given to NewReader have, and that are columns
// of the list. The column was used.
func (l *Reader) Clashes() []string {
	if l.fallback == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.fallback.clashes))
}

// Unknown returns the words in braces, of the cells that were read so far, that are no variables. They stay as they
// are, since a formula may have them.
func (l *Reader) Unknown() []string {
	if l.fallback == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.fallback.unknown))
}

// checkTemplate returns an error when all variables of the template have the same value in every row.
func (l *Reader) checkTemplate() error {
	differs := func(name string) bool { return l.columns[name] || !l.fallback.has(name) }
	if l.template == nil || slices.ContainsFunc(l.template.Variables(), differs) {
		return nil
	}
	return errors.New("the template contains no column of the list, such as {topic}, so all topics would be the same")
}

// fillCells replaces the variables in the cells of a row.
func (l *Reader) fillCells(r row) error {
	f := l.fallback
	if f == nil {
		return nil
	}
	for name := range r.values { // those of CSV and text are known
		if f.used[name] && !l.columns[name] {
			return fmt.Errorf("it has %q, which rows above do not have; there {%s} was replaced by another value", name, name)
		}
		l.columns[name] = true
	}
	var err error
	cells := maps.Clone(r.values)
	for column, cell := range cells {
		r.values[column] = braced.ReplaceAllStringFunc(cell, func(word string) string {
			name := word[1 : len(word)-1]
			switch {
			case !f.has(name):
				f.unknown[word] = true
				return word
			case !l.columns[name] || name == column:
				f.used[name] = true
				return f.values[name]
			case cells[name] == "":
				err = fmt.Errorf("{%s} is the column %q, which is empty here", name, name)
			}
			f.clashes[name] = true
			return cells[name]
		})
	}
	return err
}

// addFallback adds to a row the values of the template's variables that are not columns.
func (l *Reader) addFallback(r row) {
	for _, name := range l.template.Variables() {
		switch {
		case !l.fallback.has(name):
		case l.columns[name]:
			l.fallback.clashes[name] = true
		default:
			l.fallback.used[name] = true
			r.values[name] = l.fallback.values[name]
		}
	}
}

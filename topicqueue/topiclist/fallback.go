package topiclist

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// fallback holds the values of variables that are not columns of the list.
type fallback struct {
	values  map[string]string
	unknown map[string]bool // words in braces that are neither a variable nor a column
}

// has reports whether a variable has a value without a column. f may be nil.
func (f *fallback) has(name string) bool {
	if f == nil {
		return false
	}
	_, ok := f.values[name]
	return ok
}

var braced = regexp.MustCompile(`\{[a-z]+\}`)

// Unknown returns the words in braces found so far that are not variables. They are left unchanged, because a formula
// may contain them.
func (l *Reader) Unknown() []string {
	if l.fallback == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.fallback.unknown))
}

// checkTemplate returns an error if all variables of the template have the same value in every row.
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
	for name := range r.values { // the columns of CSV and text are known already
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
				return f.values[name]
			case cells[name] == "":
				err = fmt.Errorf("{%s} is the column %q, which is empty here", name, name)
			}
			return cells[name]
		})
	}
	return err
}

// addFallback adds to a row the values of template variables that are not columns.
func (l *Reader) addFallback(r row) {
	for _, name := range l.template.Variables() {
		if l.fallback.has(name) && !l.columns[name] {
			r.values[name] = l.fallback.values[name]
		}
	}
}

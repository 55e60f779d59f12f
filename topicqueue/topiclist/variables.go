package topiclist

import (
	"errors"
	"maps"
	"regexp"
	"slices"
)

// braced matches what may be a variable in a cell.
var braced = regexp.MustCompile(`\{[a-z]+\}`)

// Unknown returns the words in braces of all cells read so far that are no variable. It is nil without variables.
func (l *Reader) Unknown() []string {
	if len(l.unknown) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(l.unknown))
}

// checkTemplate reports a template that gives the same topic for every row.
func (l *Reader) checkTemplate() error {
	for _, name := range l.template.Variables() {
		if _, known := l.variables[name]; !known || slices.Contains(l.columns, name) {
			return nil
		}
	}
	if l.template == nil {
		return nil
	}
	return errors.New("the template contains no column of the list, such as {topic}, so all topics would be the same")
}

// fill replaces the variables in the cells of a row. For the template, it adds those that are no column.
func (l *Reader) fill(r row) {
	if l.variables == nil {
		return
	}
	for column, cell := range r.values {
		r.values[column] = braced.ReplaceAllStringFunc(cell, func(word string) string {
			if value, known := l.variables[word[1:len(word)-1]]; known {
				return value
			}
			l.unknown[word] = true
			return word
		})
	}
	for _, name := range l.template.Variables() {
		if value, known := l.variables[name]; known && r.values[name] == "" && !slices.Contains(l.columns, name) {
			r.values[name] = value
		}
	}
}

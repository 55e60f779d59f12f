package topiclist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"nightdesk/topicqueue"
)

// columns are the known names in a header row or a JSON object: the topic and its options. Other columns are for the
// template. Case, spaces and hyphens do not matter ("Citation style" is citation_style).
var columns = []string{"topic", "id", "tags", "preset", "priority", "language", "kb", "strategy", "sources", "duration",
	"budget", "deadline", "citation_style", "report_template", "plan", "user_info", "length", "audience", "audio"}

// Row is one topic of a list.
type Row struct {
	Line  int    // line on which the topic begins, counted from 1
	Topic string // as written in the list, or as produced by the template; not validated
	// by column name, without empty cells; several tags are separated by commas
	Options map[string]string
}

// RowError is an error in one row. The rows after it can be read.
type RowError struct {
	Line int
	Text string
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// maxRow is the maximum size of a row in bytes, so that a file that is not a list cannot exhaust memory.
const maxRow = 4 << 20

// Reader reads one list. It is not safe for concurrent use.
type Reader struct {
	format   Format
	template *Template // nil: the topic is the column topic, or the line
	rows     func() (row, error)
	columns  []string        // of CSV and text
	unused   map[string]bool // columns without a meaning
	// Variables in braces that cells and the template may use, such as the date; nil: none. unknown: words in braces that
	// are no variable.
	variables map[string]string
	unknown   map[string]bool
}

// row is a row before the template is applied.
type row struct {
	line   int
	values map[string]string // by canonical name; empty values are omitted
}

// NewReader starts reading a list. name is the file name and may be empty. If format is empty, it is detected from
// the file name extension or the first line. template may be nil. values are the values of variables that need no
// column, by name; a column with the same name takes precedence. They replace variables in the template and in cells,
// {date} for example; values may be nil. The list is UTF-8 or, with a byte order mark, UTF-16.
//
// The error describes what makes every row unreadable, such as a header without the template's columns.
func NewReader(r io.Reader, name string, format Format, template *Template, values map[string]string) (*Reader, error) {
	in := bufio.NewReaderSize(r, peekBytes)
	mark, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case strings.HasPrefix(string(mark), "\ufeff"):
		_, _ = in.Discard(3)
	case strings.HasPrefix(string(mark), "\xff\xfe"), strings.HasPrefix(string(mark), "\xfe\xff"):
		// Spreadsheets write this format as "Unicode text".
		in = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(in), peekBytes)
	}
	head, err := in.Peek(peekBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return nil, errors.New("this is a workbook or another packed file; save the list as CSV")
	}
	if format == "" {
		format = detect(name, head, template)
	}
	l := &Reader{format: format, template: template, unused: map[string]bool{}, variables: values,
		unknown: map[string]bool{}}
	switch format {
	case CSV:
		return l, l.openCSV(in)
	case JSONLines:
		l.rows = (&jsonRows{lines: lineReader{in: in}, means: l.means}).next
	default:
		l.columns = []string{"topic"}
		for _, v := range template.Variables() {
			if _, known := l.variables[v]; v != "topic" && !known {
				return nil, fmt.Errorf("the template uses {%s}, but a text list has only {topic}, which is the line; use a "+
					"CSV or JSON Lines file", v)
			}
		}
		if err := l.checkTemplate(); err != nil {
			return nil, err
		}
		l.rows = (&textRows{lines: lineReader{in: in}}).next
	}
	return l, nil
}

// Format returns the format of the list.
func (l *Reader) Format() Format { return l.format }

// Unused returns the columns found so far that are neither options nor template variables.
func (l *Reader) Unused() []string { return slices.Sorted(maps.Keys(l.unused)) }

// Next returns the next row. It returns io.EOF at the end, a *RowError for an invalid row, and any other error if the
// list cannot be read further.
func (l *Reader) Next() (Row, error) {
	r, err := l.rows()
	if err != nil {
		return Row{}, err
	}
	l.fill(r)
	out := Row{Line: r.line, Topic: r.values["topic"]}
	for name, value := range r.values {
		switch {
		case name == "topic":
		case isColumn(name):
			if out.Options == nil {
				out.Options = map[string]string{}
			}
			out.Options[name] = value
		case !l.template.has(name):
			if l.format == JSONLines {
				if err := misspelt(name); err != nil {
					return Row{}, &RowError{r.line, err.Error()}
				}
			}
			if len(l.unused) < mostUnused {
				l.unused[name] = true
			}
		}
	}
	if l.template != nil {
		if out.Topic, err = l.template.Fill(r.values); err != nil {
			return Row{}, &RowError{r.line, err.Error()}
		}
	}
	return out, nil
}

const mostUnused = 20

func isColumn(name string) bool { return slices.Contains(columns, name) }

// means reports whether a column is an option or a variable.
func (l *Reader) means(name string) bool { return isColumn(name) || l.template.has(name) }

// canonical returns the form in which names of columns and variables are compared.
func canonical(name string) string {
	name = strings.ToLower(topicqueue.OneLine(name))
	name = strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, name)
	if name == "strategy_mode" { // name in other systems
		return "strategy"
	}
	return name
}

// misspelt returns an error for a name that is almost that of a known column. Ignoring a misspelt option would
// produce other reports than requested.
func misspelt(name string) error {
	for _, c := range columns {
		if d := topicqueue.EditDistance(name, c); d > 0 && d <= len(c)/4 {
			return fmt.Errorf("unknown column %q; did you mean %q?", topicqueue.Clip(name, 60), c)
		}
	}
	return nil
}

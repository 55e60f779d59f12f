package topiclist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"nightdesk/topicqueue"
)

// columns are the names that mean something in a header row and in a JSON object: the topic and its options. All other
// columns are there for the template. Case, spaces and hyphens do not matter ("Citation style" is citation_style).
var columns = []string{"topic", "id", "tags", "preset", "priority", "language", "kb", "strategy", "sources", "duration",
	"budget", "deadline", "citation_style", "report_template", "plan", "user_info", "length", "audience", "audio"}

// Row is one topic of a list.
type Row struct {
	Line  int    // where it begins, counted from 1
	Topic string // as it stands there, or as the template makes it; not checked
	// by the name of their column; an empty cell is no entry. Several tags have commas between them
	Options map[string]string
}

// RowError says what is wrong with one row. The rows after it can be read.
type RowError struct {
	Line int
	Text string
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// maxRow bounds one row, so that a file which is no list cannot fill the memory.
const maxRow = 4 << 20

// Reader reads one list. It is not safe for concurrent use.
type Reader struct {
	format   Format
	template *Template // nil: the column topic, or the line
	rows     func() (row, error)
	columns  map[string]bool // all of a CSV file; of JSON Lines the fields that were read so far
	unused   map[string]bool // columns that mean nothing
	fallback *fallback       // nil: there are only columns
}

// row is a row before its template.
type row struct {
	line   int
	values map[string]string // by canonical name; what is empty is missing
}

// NewReader begins to read a list. name: of the file, by whose ending the format is known, may be empty. format: empty
// to find it out from name and first line. template: nil for none. values: of variables that the list may use without
// having such columns, by name; a column with the same name takes precedence. They are filled into the template and
// into cells, {date} for example; nil for none. UTF-8 and, with a byte order mark, UTF-16 are understood.
//
// The error says what makes every row unreadable, such as a header without the columns that the template names.
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
		// spreadsheets: "Unicode text"
		in = bufio.NewReaderSize(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(in), peekBytes)
	}
	head, err := in.Peek(peekBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if format == "" {
		format = detect(name, head, template)
	}
	l := &Reader{format: format, template: template, columns: map[string]bool{}, unused: map[string]bool{}}
	if values != nil {
		l.fallback = &fallback{values: values, used: map[string]bool{}, clashes: map[string]bool{},
			unknown: map[string]bool{}}
	}
	switch format {
	case CSV:
		return l, l.openCSV(in)
	case JSONLines:
		l.rows = (&jsonRows{lines: lineReader{in: in}, means: l.means}).next
	default:
		l.columns["topic"] = true
		for _, v := range template.Variables() {
			if v != "topic" && !l.fallback.has(v) {
				return nil, fmt.Errorf("the template names {%s}, and a list of text has {topic} only, which is the line; give a "+
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

// Format returns the format that is read.
func (l *Reader) Format() Format { return l.format }

// Unused returns the columns, of what was read so far, that are neither options nor variables of the template.
func (l *Reader) Unused() []string { return slices.Sorted(maps.Keys(l.unused)) }

// Next returns the next row; io.EOF at the end, a *RowError for a row that is wrong, and any other error when the list
// cannot be read on.
func (l *Reader) Next() (Row, error) {
	r, err := l.rows()
	if err != nil {
		return Row{}, err
	}
	if err := l.fillCells(r); err != nil {
		return Row{}, &RowError{r.line, err.Error()}
	}
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
		l.addFallback(r)
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

// canonical is how columns and variables are compared.
func canonical(name string) string {
	name = strings.ToLower(topicqueue.OneLine(name))
	name = strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, name)
	if name == "strategy_mode" { // the name that other systems have for it
		return "strategy"
	}
	return name
}

// misspelt returns an error for a name that is nearly that of a column: to leave an option out in silence would make
// other reports than were asked for.
func misspelt(name string) error {
	for _, c := range columns {
		if d := topicqueue.EditDistance(name, c); d > 0 && d <= len(c)/4 {
			return fmt.Errorf("unknown column %q; did you mean %q?", topicqueue.Clip(name, 60), c)
		}
	}
	return nil
}

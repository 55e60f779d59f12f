package topiclist

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

type csvRows struct {
	in       *boundedReader
	csv      *csv.Reader
	columns  []string
	last     int // line on which the last row ended
	tooLarge bool
}

// openCSV reads the header row.
func (l *Reader) openCSV(in *bufio.Reader) error {
	head, err := in.Peek(peekBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	c := &csvRows{in: &boundedReader{in: in}}
	line, _, _ := strings.Cut(string(head), "\n")
	c.csv = csv.NewReader(c.in)
	c.csv.Comma, c.csv.FieldsPerRecord, c.csv.ReuseRecord = separatorOf(line), -1, true
	header, err := c.read()
	if errors.Is(err, io.EOF) {
		return errors.New("there is no header row; the first row names the columns, one of them topic")
	}
	if err != nil {
		return fmt.Errorf("the header row cannot be read: %w", err)
	}
	for _, name := range header {
		c.columns = append(c.columns, canonical(name))
	}
	l.columns = c.columns
	if err := l.checkHeader(c.columns); err != nil {
		at, _ := c.csv.FieldPos(0)
		return &RowError{at, strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	l.rows = c.next
	return nil
}

// checkHeader returns all errors of the columns.
func (l *Reader) checkHeader(columns []string) error {
	var wrong []error
	shown := topicqueue.Clip(strings.Join(columns, ", "), 200)
	for i, name := range columns {
		if name != "" && slices.Contains(columns[:i], name) {
			wrong = append(wrong, fmt.Errorf("the column %q occurs twice", topicqueue.Clip(name, 60)))
		}
	}
	for _, v := range l.template.Variables() {
		if _, known := l.variables[v]; !known && !slices.Contains(columns, v) {
			wrong = append(wrong, fmt.Errorf("{%s} is not a column; columns: %s", v, shown))
		}
	}
	for _, name := range columns {
		if err := misspelt(name); err != nil && !l.means(name) {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) == 0 && l.template == nil && !slices.Contains(columns, "topic") {
		return fmt.Errorf("no column is named topic, and there is no --template; the columns are: %s", shown)
	}
	return errors.Join(append(wrong, l.checkTemplate())...)
}

// next returns the next non-empty row.
func (c *csvRows) next() (row, error) {
	for {
		cells, err := c.read()
		if err != nil {
			return row{}, err
		}
		line, _ := c.csv.FieldPos(0)
		r := row{line, map[string]string{}}
		for i, cell := range cells {
			cell, ok := cleanCell(cell)
			if !ok {
				return row{}, &RowError{r.line, notUTF8}
			}
			if cell == "" || i >= len(c.columns) || c.columns[i] == "" {
				continue
			}
			r.values[c.columns[i]] = cell
		}
		if len(cells) != len(c.columns) {
			if len(strings.TrimSpace(strings.Join(cells, ""))) == 0 {
				continue
			}
			return row{}, &RowError{r.line,
				fmt.Sprintf("%d columns, but the header has %d; put text that contains %q in quotes",
					len(cells), len(c.columns), string(c.csv.Comma))}
		}
		if len(r.values) > 0 {
			return r, nil
		}
	}
}

// read reads one record. An error in this record only is a *RowError.
func (c *csvRows) read() ([]string, error) {
	if c.tooLarge {
		return nil, io.EOF
	}
	c.in.left = maxRow
	cells, err := c.csv.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, errTooLarge):
		c.tooLarge = true
		return nil, &RowError{c.last + 1,
			fmt.Sprintf("the row has more than %d bytes: is a quote not closed? The rest was not read", maxRow)}
	case err == nil:
		line, _ := c.csv.FieldPos(len(cells) - 1)
		c.last = line + strings.Count(cells[len(cells)-1], "\n")
		return cells, nil
	case !errors.As(err, &parse):
		return nil, err
	}
	c.last = parse.Line
	return nil, &RowError{parse.StartLine,
		fmt.Sprintf("%s (noticed on line %d); quote a field that contains quotes, and double each of them", parse.Err,
			parse.Line)}
}

var errTooLarge = errors.New("the row is too large")

// boundedReader reads a limited number of bytes and then fails. It is needed because encoding/csv reads a field up to
// its closing quote, however far away.
type boundedReader struct {
	in   io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

package topiclist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// lineReader reads line by line. It skips a line that is too long.
type lineReader struct {
	in   *bufio.Reader
	line int // number of the last line read
	buf  []byte
}

// next returns the next line without its line end, valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for size := 0; ; {
		part, err := l.in.ReadSlice('\n')
		if size += len(part); size <= maxRow {
			l.buf = append(l.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || size == 0) {
			return nil, err
		}
		l.line++
		if size > maxRow {
			return nil, &RowError{l.line, fmt.Sprintf("it has more than %d bytes", maxRow)}
		}
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}

// notUTF8 is the error text for a list in another encoding.
const notUTF8 = `it is not UTF-8 text; save the list as UTF-8 (spreadsheets call it "CSV UTF-8")`

// cleanCell returns a line or cell without hidden characters. ok is false if it is not valid text.
func cleanCell(cell string) (clean string, ok bool) {
	if !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) {
		return "", false
	}
	return strings.TrimSpace(topicqueue.Printable(cell)), true
}

type textRows struct{ lines lineReader }

func (t *textRows) next() (row, error) {
	for {
		line, err := t.lines.next()
		if err != nil {
			return row{}, err
		}
		topic, ok := cleanCell(string(line))
		if !ok {
			return row{}, &RowError{t.lines.line, notUTF8}
		}
		if topic == "" || topic == "#" || strings.HasPrefix(topic, "# ") {
			continue
		}
		return row{t.lines.line, map[string]string{"topic": topic}}, nil
	}
}

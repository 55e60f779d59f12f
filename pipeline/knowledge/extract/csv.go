package extract

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// separators are the supported field separators of a CSV file.
const separators = ",;\t|"

// csvTableSize is the size in bytes after which the header row is repeated, so that every passage includes it.
const csvTableSize = 900

// CSV extracts a CSV file as a table. text is UTF-8; without a recognizable separator it is treated as plain text. What
// stands above the header row, such as a title and a date, and single fields below the table are paragraphs.
func CSV(text string) Document {
	named := ""
	if line, rest, ok := strings.Cut(text, "\n"); ok { // as Excel writes it
		if sep, is := strings.CutPrefix(strings.TrimSpace(line), "sep="); is && len(sep) == 1 {
			named, text = sep, rest
		}
	}
	rows, header := csvTable(text, separators)
	if named != "" {
		rows, header = csvTable(text, named)
	}
	if rows == nil {
		return plainText(text)
	}
	b := document.NewBuilder()
	var above []string
	for _, row := range rows[:header] {
		above = append(above, csvLine(row))
		b.Paragraph(csvLine(row))
	}
	width := len(rows[header])
	hasNames := document.IsHeader(rows[header])
	var t document.Table
	size := 0
	for _, row := range rows[header:] {
		if size > csvTableSize && hasNames {
			t.Write(b)
			t, size = document.Table{}, 0
			csvRow(&t, rows[header], width)
		}
		size += len(csvLine(row))
		row = row[:max(min(len(row), width), filled(row))]
		if len(row) > width || len(row) == 1 && width > 2 { // fields under no heading, or a note below the table
			t.Write(b)
			b.Paragraph(csvLine(row))
			t = document.Table{}
			csvRow(&t, rows[header], width)
			continue
		}
		csvRow(&t, row, width)
	}
	if len(t.Rows()) > 1 || header == len(rows)-1 {
		t.Write(b)
	}
	return b.Document(document.HeadLines(strings.Join(above, "\n")))
}

func csvRow(t *document.Table, row []string, width int) {
	t.Row()
	for i := range width {
		field := ""
		if i < len(row) {
			field = row[i]
		}
		t.Cell(field, 1, 1)
	}
}

// csvLine returns a row that is not of the table.
func csvLine(row []string) string { return strings.Join(row[:filled(row)], ", ") }

// filled returns the number of fields up to the last that is not empty.
func filled(row []string) int {
	n := len(row)
	for n > 0 && strings.TrimSpace(row[n-1]) == "" {
		n--
	}
	return n
}

// csvTable returns the rows of a CSV file and the index of the header row, or nil if it is none. Of the separators
// that split most of the first rows from the header on into the same number of fields, it takes the one that does so
// most often.
func csvTable(text, separators string) (rows [][]string, header int) {
	most := 0
	for _, separator := range separators {
		all, err := csvRows(text, separator)
		if err != nil {
			continue
		}
		first := all[:min(len(all), 100)]
		counts, width := map[int]int{}, 0
		for _, row := range first {
			if counts[len(row)]++; len(row) > 1 && counts[len(row)] >= counts[width] {
				width = len(row)
			}
		}
		cuts := counts[width] * (width - 1)
		if cuts <= most || counts[width] == 1 && len(first) > 1 {
			continue
		}
		if at := headerRow(first, width); counts[width]*3 >= (len(first)-at)*2 {
			most, rows, header = cuts, all, at
		}
	}
	return rows, header
}

// headerRow returns the first row of the usual width that has hardly an empty field, or the row above if that names the
// columns but lacks the last one, or has one more.
func headerRow(rows [][]string, width int) int {
	first := -1
	for i, row := range rows {
		if len(row) != width {
			continue
		}
		if first < 0 {
			first = i
		}
		full := 0
		for _, field := range row {
			full += min(len(strings.TrimSpace(field)), 1)
		}
		if full >= max(2, width-1) {
			first = i
			break
		}
	}
	if first > 0 && !document.IsHeader(rows[first][:filled(rows[first])]) {
		if above := rows[first-1]; len(above) > 1 && len(above) >= width-1 && document.IsHeader(above) {
			return first - 1
		}
	}
	return first
}

// csvRows returns the rows that are not empty.
func csvRows(text string, separator rune) (rows [][]string, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, true
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, err
		case filled(row) > 0:
			rows = append(rows, row)
		}
	}
}

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

// CSV extracts a CSV file as tables. text is UTF-8; without a recognizable separator it is treated as plain text.
func CSV(text string) Document {
	separator, ok := csvSeparator(text)
	if !ok {
		return plainText(text)
	}
	b := document.NewBuilder()
	var t document.Table
	_ = csvRows(text, separator, func(row []string) bool {
		t.Row()
		for _, field := range row {
			t.Cell(field, 1, 1)
		}
		return true
	})
	t.Write(b)
	return b.Document(document.Metadata{})
}

// csvSeparator detects the field separator. Among the separators that split at least 90 % of the first rows into the
// same number of fields, it selects the one with the most fields.
func csvSeparator(text string) (separator rune, ok bool) {
	most := 1
	for _, s := range separators {
		counts, rows := map[int]int{}, 0
		err := csvRows(text, s, func(row []string) bool {
			rows++
			counts[len(row)]++
			return rows < 50
		})
		for fields, n := range counts {
			if err == nil && n*10 >= rows*9 && fields > most {
				most, separator = fields, s
			}
		}
	}
	return separator, most > 1
}

// csvRows calls use for each row until use returns false.
func csvRows(text string, separator rune, use func(row []string) bool) error {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, true
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !use(row) {
			return nil
		}
	}
}

package topiclist_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/topicqueue/topiclist"
)

// FuzzReader: for any input, rows are in line order, line numbers exist, and reading ends.
func FuzzReader(f *testing.F) {
	f.Add([]byte("topic,id\n\"a\nb\",1\n"), "csv", "")
	f.Add([]byte("sep=;\ntopic;x\na;1\n"), "", "{x} {topic}")
	f.Add([]byte(`{"topic":"a","tags":["b"]}`+"\n\"c\"\n"), "", "")
	f.Add([]byte("a\n# b\nc"), "", "About {topic}")
	f.Add([]byte("\xff\xfet\x00"), "text", "")
	f.Add([]byte("topic,id\n\"open,1\na,2\n"), "csv", "")
	f.Fuzz(func(t *testing.T, list []byte, format, template string) {
		fm, err := topiclist.ParseFormat(format)
		if err != nil {
			return
		}
		tmpl, err := topiclist.ParseTemplate(template)
		if err != nil {
			tmpl = nil
		}
		r, err := topiclist.NewReader(bytes.NewReader(list), "", fm, tmpl, map[string]string{"date": "2026-03-29"})
		if err != nil {
			return
		}
		lines, last := bytes.Count(list, []byte("\n"))+1, 0
		for {
			row, err := r.Next()
			var wrong *topiclist.RowError
			if errors.As(err, &wrong) {
				row.Line = wrong.Line
			} else if errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			} else if !utf8.ValidString(row.Topic) && tmpl == nil {
				t.Fatalf("topic %q", row.Topic)
			}
			if row.Line <= last || row.Line > lines {
				if !bytes.HasPrefix(list, []byte("\xff\xfe")) && !bytes.HasPrefix(list, []byte("\xfe\xff")) {
					t.Fatalf("line %d after line %d of %d", row.Line, last, lines)
				}
			}
			last = row.Line
		}
	})
}

// FuzzCSV writes a row with the standard library and reads it back from its line.
func FuzzCSV(f *testing.F) {
	f.Add("What, who?\nAnd \"why\"?", "7", "plain")
	f.Fuzz(func(t *testing.T, topic, id, before string) {
		var list bytes.Buffer
		w := csv.NewWriter(&list)
		for _, record := range [][]string{{"topic", "id"}, {before, "x"}, {topic, id}} {
			if err := w.Write(record); err != nil {
				t.Skip()
			}
		}
		w.Flush()
		clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
		if all := strings.Join([]string{topic, id, before}, " "); !utf8.ValidString(all) || strings.Contains(all, "\r") || clean(topic) == "" {
			return
		}
		rows, problems, _ := read(t, list.String(), "", topiclist.CSV, "")
		if len(problems) > 0 || len(rows) != 2 {
			t.Fatalf("%d rows, problems %v of %q", len(rows), problems, list.String())
		}
		got := rows[1]
		if got.Topic != clean(topic) || got.Options["id"] != clean(id) || got.Line != 3+strings.Count(before, "\n") {
			t.Errorf("%+v of %q", got, list.String())
		}
	})
}

// FuzzJSONLines writes a row as JSON and reads it back.
func FuzzJSONLines(f *testing.F) {
	f.Add("What?\n{}", "a")
	f.Fuzz(func(t *testing.T, topic, tag string) {
		line, err := json.Marshal(map[string]any{"topic": topic, "tags": []string{tag}})
		if err != nil || !utf8.ValidString(topic) {
			return
		}
		rows, problems, _ := read(t, string(line), "", topiclist.JSONLines, "")
		if len(problems) > 0 || len(rows) != 1 || rows[0].Topic != strings.TrimSpace(topic) {
			t.Errorf("%v %v of %s", rows, problems, line)
		}
	})
}

// FuzzTemplate: text outside of braces is in every topic.
func FuzzTemplate(f *testing.F) {
	f.Add("What changed at {ticker} in {year}? {{x}}")
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := topiclist.ParseTemplate(text)
		if err != nil {
			return
		}
		values := map[string]string{}
		for _, v := range tmpl.Variables() {
			if _, err := tmpl.Fill(values); err == nil {
				t.Fatalf("%q is filled without %q", text, v)
			}
			values[v] = "1"
		}
		topic, err := tmpl.Fill(values)
		if err != nil || !strings.Contains(topic, "1") {
			t.Errorf("%q: %q, %v", text, topic, err)
		}
	})
}

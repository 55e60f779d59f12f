package digest

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Changes holds the changes since an earlier run.
type Changes struct {
	Since     string   `json:"since"`
	New       []Change `json:"new"`
	Changed   []Change `json:"changed"`
	Withdrawn []Change `json:"withdrawn"`
	Open      []Change `json:"open"`
}

// Change is a single change. Its JSON is a string, or an object with any of what, text or statement, old and new. Old
// and new are strings, or objects with a value, text or statement.
type Change struct {
	Text string // current statement; the former one if it was withdrawn
	Old  string // value or statement of the earlier run; "" unless it changed
	New  string

	Title string // title of its document; empty: unknown
}

// UnmarshalJSON accepts the forms described at Change.
func (c *Change) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		c.Text = text
		return nil
	}
	var o struct {
		Text, Statement, What, Title string
		Old, New                     said
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	c.Text, c.Old, c.New = cmp.Or(o.What, o.Text, o.Statement), o.Old.short(), o.New.short()
	if c.Text == "" && o.New.Value != "" {
		c.Text = o.New.statement()
	}
	c.Title = cmp.Or(o.Title, o.New.Title)
	return nil
}

// said is a statement of a source.
type said struct{ Text, Statement, Value, Title string }

// UnmarshalJSON also accepts a string.
func (s *said) UnmarshalJSON(data []byte) error {
	type fields said
	if json.Unmarshal(data, &s.Text) == nil {
		return nil
	}
	return json.Unmarshal(data, (*fields)(s))
}

func (s said) statement() string { return cmp.Or(s.Text, s.Statement) }
func (s said) short() string     { return cmp.Or(s.Value, s.statement()) }

// Read parses the facts for a digest from the metadata of a report.
func Read(metadata []byte) (Facts, error) {
	var f Facts
	if err := json.Unmarshal(metadata, &f); err != nil {
		return Facts{}, fmt.Errorf("read the metadata of a report: %w", err)
	}
	return f, nil
}

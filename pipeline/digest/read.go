package digest

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Changes are what moved since an earlier night.
type Changes struct {
	Since     string   `json:"since"`
	New       []Change `json:"new"`
	Changed   []Change `json:"changed"`
	Withdrawn []Change `json:"withdrawn"`
	Open      []Change `json:"open"`
}

// Change is one of them. In JSON it is a text, or an object with any of what, text or statement, old and new; these
// are texts or objects with a value, text or statement.
type Change struct {
	Text string // the statement as it is now; of a withdrawn one, as it was
	Old  string // value, else statement, of the earlier night; empty unless it has changed
	New  string

	Title string // of its document; empty: not known
}

// UnmarshalJSON reads the forms that Change names. What has another form says nothing.
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

// said is what a source says.
type said struct{ Text, Statement, Value, Title string }

// UnmarshalJSON reads a text, too.
func (s *said) UnmarshalJSON(data []byte) error {
	type fields said
	if json.Unmarshal(data, &s.Text) == nil {
		return nil
	}
	return json.Unmarshal(data, (*fields)(s))
}

func (s said) statement() string { return cmp.Or(s.Text, s.Statement) }
func (s said) short() string     { return cmp.Or(s.Value, s.statement()) }

// Read takes from the metadata of a report what a digest needs of it.
func Read(metadata []byte) (Facts, error) {
	var f Facts
	if err := json.Unmarshal(metadata, &f); err != nil {
		return Facts{}, fmt.Errorf("read the metadata of a report: %w", err)
	}
	return f, nil
}

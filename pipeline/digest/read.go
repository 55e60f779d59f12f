package digest

import (
	"bytes"
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

// Change is one of them. In JSON it is a text, or an object with any of text or statement, old and new; these are texts or
// objects with a value, text or statement.
type Change struct {
	Text string // the statement as it is now; of a withdrawn one, as it was
	Old  string // value or statement of the earlier night; empty unless it has changed
	New  string
}

// UnmarshalJSON reads the forms that Change names.
func (c *Change) UnmarshalJSON(data []byte) error {
	var o struct {
		Text, Statement, Old, New json.RawMessage
	}
	if len(data) > 0 && data[0] != '{' {
		c.Text = said(data)
		return nil
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	c.Text, c.Old, c.New = cmp.Or(said(o.Text), said(o.Statement)), said(o.Old), said(o.New)
	return nil
}

// said returns a text, or the shortest of what an object says of one; empty when it is neither.
func said(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var o struct{ Value, Text, Statement string }
	if bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, &o) == nil {
		return cmp.Or(o.Value, o.Text, o.Statement)
	}
	return ""
}

// Read takes from the metadata of a report what a digest needs of it.
func Read(metadata []byte) (Facts, error) {
	var f Facts
	if err := json.Unmarshal(metadata, &f); err != nil {
		return Facts{}, fmt.Errorf("read the metadata of a report: %w", err)
	}
	return f, nil
}

package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/reporting/checking"
)

// Parts of the check results page.
type (
	checksPage struct {
		RunURL string
		Groups []checkGroup
	}
	checkGroup struct {
		Name, Class string
		Open        bool
		Sentences   []checkLine
	}
	checkLine struct {
		Text, Section, Why, URL, Citations, Remark string
		group                                      int // index into checkGroups
	}
)

// checks lists the checked sentences of a report by result, problems first.
func (s *site) checks(ctx context.Context, r *http.Request) (string, any, error) {
	id := r.PathValue("run")
	v, err := s.Verification(ctx, id)
	if err != nil {
		return "", nil, err
	}
	groups := slices.Clone(checkGroups)
	for i, c := range v.Sentences {
		line := checkOf(c)
		line.Remark = fmt.Sprintf("./remarks?sentence=%d#new", i+1)
		if c.Source != "" {
			line.URL = fmt.Sprintf("./sources/%s?sentence=%d#here", name(c.Source), i+1)
		}
		groups[line.group].Sentences = append(groups[line.group].Sentences, line)
	}
	return "What was checked", checksPage{"../" + name(id), groups}, nil
}

// checkGroups lists the result groups, problems first.
var checkGroups = []checkGroup{{Name: "Not supported by their sources", Class: "v-bad", Open: true},
	{Name: "Not confirmed", Class: "v-open", Open: true}, {Name: "Conclusions of the report", Class: "v-own", Open: true},
	{Name: "Confirmed", Class: "v-ok"}, {Name: "Quotations, word for word", Class: "v-ok"}}

// checkOf converts a checked sentence for display.
func checkOf(c checking.Sentence) checkLine {
	line := checkLine{Text: cells(c.Text), Section: cmp.Or(c.Section, "Introduction"), Why: whyOf(c),
		Citations: strings.Join(c.Citations, ", "), group: 1}
	switch {
	case c.Action == checking.ActionRemoved:
		line.Why = "removed from the report: " + cmp.Or(line.Why, "its sources do not say it")
		line.group = 0
	case c.Conclusion():
		line.group = 2
	case c.Verdict == support.Supported && c.Quote:
		line.group = 4
	case c.Verdict == support.Supported:
		line.group = 3
	case c.Verdict == support.Unsupported:
		line.group = 0
	}
	return line
}

// Found returns the result group of the line, with its name and CSS class.
func (l checkLine) Found() checkGroup { return checkGroups[l.group] }

// cells formats a table row as a line of text.
func cells(s string) string { return strings.ReplaceAll(s, " | ", " · ") }

// whyOf returns why a sentence is not confirmed, or the evidence for it.
func whyOf(c checking.Sentence) string {
	var absent []string
	for _, f := range c.Figures {
		if f.Result == support.Absent {
			missing := "“" + f.Text + "” was not found"
			if f.Instead != "" {
				missing += ", but “" + f.Instead + "”"
			}
			absent = append(absent, missing)
		}
	}
	if c.Quotation.Result == support.Absent {
		absent = append(absent, "the quotation “"+c.Quotation.Missing+"” was not found")
	}
	switch {
	case c.Judge.Wrong != "" && c.Verdict != support.Supported:
		return c.Judge.Wrong
	case c.Verdict == support.Supported && c.Quotation.Result == support.Verbatim:
		return "stands word for word in its source"
	case c.Judge.Words != "" && (c.Verdict == support.Supported || c.Conclusion()):
		return strings.TrimSuffix("“"+c.Judge.Words+"”; "+c.Judge.Sum, "; ")
	case len(absent) > 0:
		return strings.Join(absent, "; ")
	case c.Judge.Words != "":
		return "the words that a model named do not stand in a source: “" + c.Judge.Words + "”"
	}
	return map[support.Missing]string{
		support.NoJudge:  "no model judged it; quotations, figures and dates were compared",
		support.NoAnswer: "the model gave no answer about it", support.NoRoom: "one call had no room for it",
		support.NoSource: "its sources have no text",
	}[c.Judge.Missing]
}

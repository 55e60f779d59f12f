package reporting

import (
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/quoted"
)

// partText is the text of a part of a report, as the next run of the topic gets it, and the result of its check.
type partText struct {
	Blocks   []report.Block     `json:"blocks"`
	Removed  []citation.Removal `json:"removed,omitempty"`
	Repeated []string           `json:"repeated_sentences,omitempty"` // sentences removed, as the report has them already
	Local    bool               `json:"local,omitempty"`              // assembled, not written by the model
	// Body is the Markdown of a part that was stored by a version without blocks.
	Body string `json:"body,omitempty"`
	checking.Result
}

// part is the introduction, a section or the conclusion of a report, without its own heading.
type part struct {
	partText
	title    string
	claims   []claim          // claims that the text may cite
	excerpts []quoted.Excerpt // excerpts shown, in a report without a model
	empty    bool             // template section without evidence
	past     *checking.Result // check of the last report, of which this part is kept unchanged; nil: new text
}

// localPart returns a part that is not written by the model. body: Markdown whose paragraphs are one statement each.
func localPart(title, body string) part {
	return part{title: title, partText: partText{Blocks: report.ParseWhole(body), Local: true}}
}

// kept returns a part of the last report.
func (t *partText) kept() part {
	p := part{partText: *t, past: &t.Result}
	p.Blocks = report.Clone(t.Blocks)
	return p
}

// draft is a report before its citations are rendered. Its texts have no headings above level 3.
type draft struct {
	opening    part
	sections   []part
	conclusion part // empty in an extractive report
	extractive bool
	answer     bool // the report is a single answer: the opening
}

// parts returns the parts of a draft in the order of the report.
func (d *draft) parts() []*part {
	all := []*part{&d.opening}
	for i := range d.sections {
		all = append(all, &d.sections[i])
	}
	return append(all, &d.conclusion)
}

// dropRepeated removes sentences that another section has already. Sections kept from the last report are not changed.
func dropRepeated(sections []part) {
	said := map[string]bool{}
	for _, s := range sections {
		if s.past != nil {
			for _, st := range report.Statements(s.Blocks) {
				said[report.Key(st.Text())] = true
			}
		}
	}
	for i := range sections {
		if s := &sections[i]; s.past == nil {
			var dropped []string
			s.Blocks, dropped = report.DropRepeated(s.Blocks, said)
			s.Repeated = append(s.Repeated, dropped...)
		}
	}
}

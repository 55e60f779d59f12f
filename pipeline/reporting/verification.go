package reporting

import (
	"cmp"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
)

// What became of a sentence.
const (
	ActionKept     = "kept"
	ActionRepaired = "repaired" // written anew from the evidence
	ActionMarked   = "marked"   // unsupported, and says so
	ActionRemoved  = "removed"
	ActionCited    = "cited" // had no citation and got that of the only claim that bears it out
)

// Verification says how a report was checked: each citation against the registry of the run, and each sentence with
// citations against the stored text of the sources that it cites.
type Verification struct {
	Rules      int                `json:"rules"`             // support.Rules of the version that checked; 0: of one before there were numbers
	Status     string             `json:"status"`            // citation.StatusVerified, or StatusUnverified: a check could not be done
	Reason     string             `json:"reason"`            // of the latter; of the former what was left out
	Valid      []citation.Valid   `json:"valid_citations"`   // entries of the references, with how their source was found
	Removed    []citation.Removed `json:"removed_citations"` // entries of the references that led nowhere
	Links      []citation.Linked  `json:"links"`             // addresses in the text, with how their source was found
	Counts     VerificationCounts `json:"counts"`
	Sentences  []CheckedSentence  `json:"sentences"` // in the order of the report
	Evaluation Evaluation         `json:"evaluation"`
	Judgement  *Judgement         `json:"judgement,omitempty"` // by a model; nil when none is configured for it
	Outside    Difference         `json:"outside,omitzero"`    // parts of the delivered report that the check did not cover
}

// VerificationCounts counts what was found in the report as it is delivered, unless a field says otherwise.
type VerificationCounts struct {
	Sentences       int `json:"sentences"` // with citations
	Supported       int `json:"supported"`
	Unsupported     int `json:"unsupported"` // and marked as such
	Unverified      int `json:"unverified"`
	Repaired        int `json:"repaired"`
	Marked          int `json:"marked"`
	Removed         int `json:"removed"`           // taken out
	Cited           int `json:"cited"`             // had no citation and got one
	FactsUncited    int `json:"facts_uncited"`     // sentences with figures, dates or names that have no citation
	SourcesUnread   int `json:"sources_unread"`    // cited ones whose text could not be read
	RepairsFailed   int `json:"repairs_failed"`    // sections whose repair the model did not give
	LiftedByMeaning int `json:"lifted_by_meaning"` // supported by what an embedding model says of their meaning
}

// CheckedSentence is one sentence and what was decided.
type CheckedSentence struct {
	Text      string         `json:"text"`           // Markdown without markers, as in the report; as it was, when it was removed
	Head      string         `json:"head,omitempty"` // of a row of a table: the table's first row
	Section   string         `json:"section"`
	Citations []string       `json:"citations"` // citation ids; of a sentence that only links, ids of the sources
	Verdict   support.Result `json:"verdict"`
	Reason    support.Reason `json:"reason,omitempty"`
	Detail    string         `json:"detail,omitempty"` // what is not borne out
	Source    string         `json:"source,omitempty"` // source_id of the best passage
	Page      string         `json:"page,omitempty"`   // where its text is: pages/<sha256>.txt
	Start     int            `json:"start"`            // bytes into it
	End       int            `json:"end"`
	Action    string         `json:"action"`             // one of the Action... constants
	Original  string         `json:"original,omitempty"` // what a repaired sentence said before
	Meaning   bool           `json:"by_meaning,omitempty"`
	Quote     bool           `json:"quote,omitempty"` // shown as a quotation of its source
	Rules     int            `json:"rules,omitempty"` // by which it was judged, where these are not the report's: in a part that is kept from an earlier night
}

// count sums up the sentences.
func (v *Verification) count() {
	c := &v.Counts
	for _, s := range v.Sentences {
		switch s.Action {
		case ActionRemoved:
			c.Removed++
			continue
		case ActionMarked:
			c.Marked++
		case ActionRepaired:
			c.Repaired++
		case ActionCited:
			c.Cited++
		}
		c.Sentences++
		switch s.Verdict {
		case support.Supported:
			c.Supported++
		case support.Unsupported:
			c.Unsupported++
		case support.Unverified:
			c.Unverified++
		}
		if s.Meaning {
			c.LiftedByMeaning++
		}
	}
}

// Recheck judges the delivered sentences of a verification again and returns the indexes of those whose verdict or
// passage it cannot confirm. sources: all of the run, by source_id, with their texts; sourceOf: the source_id behind a
// citation id, "" when there is none. What an embedding model has settled is confirmed when the words leave it open.
// otherwise: how many were judged by the rules of another version, and are not so by those of this one.
func (v *Verification) Recheck(sources []support.Source, sourceOf func(citation string) string) (wrong []int, otherwise int) {
	corpus := support.New(sources)
	for i, s := range v.Sentences {
		var ids []string
		for _, c := range s.Citations {
			ids = append(ids, sourceOf(c))
		}
		got := verdictOn(corpus, s.Quote, s.Head, s.Text, ids)
		same := got.Result == s.Verdict && got.Reason == s.Reason
		if s.Meaning {
			same = support.CanLift(got)
		}
		switch {
		case same && got.Source == s.Source && got.Start == s.Start && got.End == s.End:
		case cmp.Or(s.Rules, v.Rules) != support.Rules:
			otherwise++
		default:
			wrong = append(wrong, i)
		}
	}
	return wrong, otherwise
}

// verdictOn judges a sentence by its sources, when a report is checked and whenever that is proved again. head: of the table, of a row.
func verdictOn(corpus *support.Corpus, quote bool, head, text string, ids []string) support.Verdict {
	switch {
	case quote:
		return corpus.Quoted(text, ids)
	case head != "":
		return corpus.CheckRow(head, text, ids)
	}
	return corpus.Check(text, ids)
}

func newVerification() *Verification {
	return &Verification{Rules: support.Rules, Status: citation.StatusVerified, Valid: []citation.Valid{}, Removed: []citation.Removed{}, Links: []citation.Linked{}, Sentences: []CheckedSentence{}}
}

package reporting

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// What became of a sentence.
const (
	ActionKept     = "kept"
	ActionRepaired = "repaired" // written anew from the evidence
	ActionMarked   = "marked"   // unsupported, and says so
	ActionRemoved  = "removed"
	ActionCited    = "cited" // had no citation and got that of the only claim that has it word for word
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
	// sentences with figures or quotations that cite nothing: not judged
	Uncited  []string   `json:"uncited,omitempty"`
	Repeated []string   `json:"repeated,omitempty"` // sentences taken out because the report says the same before
	Tail     string     `json:"tail,omitempty"`     // SHA-256 of the references and the note; empty: not recorded
	Outside  Difference `json:"outside,omitzero"`   // parts of the delivered report that the check did not cover
}

// VerificationCounts counts what was found in the report as it is delivered, unless a field says otherwise.
type VerificationCounts struct {
	Sentences     int `json:"sentences"` // with citations
	Supported     int `json:"supported"`
	Unsupported   int `json:"unsupported"` // and marked as such
	Unverified    int `json:"unverified"`
	Conclusions   int `json:"conclusions,omitempty"` // of the unverified: the report's own, from facts of its sources
	Repaired      int `json:"repaired"`
	Marked        int `json:"marked"`
	Removed       int `json:"removed"`        // taken out
	Cited         int `json:"cited"`          // had no citation and got one
	Judged        int `json:"judged"`         // by a model, besides those that stand verbatim in a source
	FactsUncited  int `json:"facts_uncited"`  // sentences with figures or quotations that have no citation
	SourcesUnread int `json:"sources_unread"` // cited ones whose text could not be read
	JudgeFailed   int `json:"judge_failed"`   // sections about which the model gave no answer
	RepairsFailed int `json:"repairs_failed"` // sections whose repair the model did not give
	Refused       int `json:"refused"`        // corrections that were not taken
}

// CheckedSentence is one sentence and what was decided.
type CheckedSentence struct {
	Text      string         `json:"text"`           // Markdown without markers, as in the report; as it was, when it was removed
	Head      string         `json:"head,omitempty"` // of a row of a table: the table's first row
	Section   string         `json:"section"`
	Citations []string       `json:"citations"` // citation ids; of a sentence that only links, ids of the sources
	Verdict   support.Result `json:"verdict"`
	support.Findings
	Judge    support.Judged `json:"judge,omitzero"`   // by a model; or why it was not asked
	Source   string         `json:"source,omitempty"` // source_id of the place that shows best what was found
	Page     string         `json:"page,omitempty"`   // where its text is: pages/<sha256>.txt
	Start    int            `json:"start"`            // bytes into it
	End      int            `json:"end"`
	Action   string         `json:"action"`             // one of the Action... constants
	Original string         `json:"original,omitempty"` // what a repaired sentence said before
	Proposed string         `json:"proposed,omitempty"` // a correction that was not taken
	Refused  string         `json:"refused,omitempty"`  // why it was not taken, or why there is none
	Quote    bool           `json:"quote,omitempty"`    // shown as a quotation of its source
	// Rules by which it was judged, where these are not the report's: in a part that is kept from an earlier night.
	Rules int `json:"rules,omitempty"`
}

// Conclusion reports a conclusion of the report itself, from facts that are in its sources.
func (s CheckedSentence) Conclusion() bool {
	return s.Verdict == support.Unverified && s.Judge.Judgement == support.JudgedConclusion && s.Judge.Span != nil
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
			if s.Conclusion() {
				c.Conclusions++
			}
		}
		if s.Judge.Judgement != "" {
			c.Judged++
		}
		if s.Proposed != "" {
			c.Refused++
		}
	}
}

// Recheck looks for the sentences of a verification again, without a model, and returns the indexes of those whose
// findings, words of the judge or verdict it cannot confirm. sources: all of the run, by source_id, with their
// texts; sourceOf: the source_id behind a citation id, "" when there is none. otherwise: how many were checked by
// the rules of another version, and come out otherwise by those of this one.
func (v *Verification) Recheck(sources []support.Source, sourceOf func(citation string) string) (
	wrong []int, otherwise int,
) {
	corpus, texts := support.New(sources), map[string]string{}
	for _, s := range sources {
		texts[s.ID] = s.Text
	}
	for i, s := range v.Sentences {
		var ids []string
		for _, c := range s.Citations {
			ids = append(ids, sourceOf(c))
		}
		same := false
		if s.Quote {
			same = s.Verdict == support.Supported && slices.Contains(ids, s.Source) && s.quotes(texts[s.Source])
		} else {
			same = s.holds(corpus, ids)
		}
		switch {
		case same:
		case cmp.Or(s.Rules, v.Rules) != support.Rules:
			otherwise++
		default:
			wrong = append(wrong, i)
		}
	}
	return wrong, otherwise
}

// quotes reports whether the words of a text at the recorded place are shown as this quotation.
func (s CheckedSentence) quotes(source string) bool {
	if s.Start < 0 || s.Start >= s.End || s.End > len(source) {
		return false
	}
	return text.Line(quoteMarkdown(source[s.Start:s.End])) == strings.TrimSuffix(s.Text, " "+attribution)
}

// holds reports whether a sentence comes out as it was written down. What a model has judged is taken from there,
// if the words that it named stand where they should.
func (s CheckedSentence) holds(corpus *support.Corpus, ids []string) bool {
	findings := corpus.Check(s.Text, s.Head, ids)
	judge := corpus.Prove(s.Judge, ids)
	shown := corpus.Shown(s.Text, ids, findings, judge)
	return reflect.DeepEqual(findings, s.Findings) && reflect.DeepEqual(judge, s.Judge) &&
		findings.Decide(judge) == s.Verdict && shown == support.Span{Source: s.Source, Start: s.Start, End: s.End}
}

func newVerification() *Verification {
	return &Verification{
		Rules: support.Rules, Status: citation.StatusVerified, Valid: []citation.Valid{}, Removed: []citation.Removed{},
		Links: []citation.Linked{}, Sentences: []CheckedSentence{},
	}
}

// CheckTexts are what a page of the report says about its sentences.
type CheckTexts struct{ Show, Confirmed, Conclusion, Unconfirmed, Unsupported, News string }

// CheckWords returns them in the language of a report.
func CheckWords(language string) CheckTexts {
	t := prompts.TextsIn(language)
	return CheckTexts{t.ShowChecks.String(), t.CheckConfirmed.String(), t.CheckConclusion.String(),
		t.CheckUnconfirmed.String(), t.CheckUnsupported.String(), t.ShowNews.String()}
}

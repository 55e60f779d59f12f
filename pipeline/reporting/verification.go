package reporting

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/quoted"
	"nightdesk/pipeline/text"
)

// Outcomes of the check of a sentence.
const (
	ActionKept     = "kept"
	ActionRepaired = "repaired" // rewritten from the evidence
	ActionMarked   = "marked"   // unsupported, and marked as such in the text
	ActionRemoved  = "removed"
	ActionCited    = "cited" // got the citation of a claim: it had none, or its sources lacked what that claim has
)

// Verification records how a report was checked: each citation against the registry of the run, and each citing
// sentence against the stored text of its sources.
type Verification struct {
	Rules      int                    `json:"rules"`             // version of support.Rules; 0: before rules had numbers
	Status     string                 `json:"status"`            // verification.StatusVerified, or StatusUnverified
	Reason     string                 `json:"reason"`            // why unverified, or what a verified check left out
	Valid      []verification.Valid   `json:"valid_citations"`   // entries of the references
	Removed    []verification.Removed `json:"removed_citations"` // entries of the references without a source
	Links      []citation.Linked      `json:"links"`             // addresses in the text, and how their source was found
	Counts     VerificationCounts     `json:"counts"`
	Sentences  []CheckedSentence      `json:"sentences"` // in the order of the report
	Evaluation Evaluation             `json:"evaluation"`
	// uncited sentences with figures or quotations, which are not judged
	Uncited  []string `json:"uncited,omitempty"`
	Repeated []string `json:"repeated,omitempty"` // sentences removed because the report already says the same
}

// VerificationCounts counts the sentences of the delivered report, unless a field says otherwise.
type VerificationCounts struct {
	Sentences     int `json:"sentences"` // with citations
	Supported     int `json:"supported"`
	Unsupported   int `json:"unsupported"` // and marked as such
	Unverified    int `json:"unverified"`
	Conclusions   int `json:"conclusions,omitempty"` // unverified: the report's own, from facts of its sources
	Repaired      int `json:"repaired"`
	Marked        int `json:"marked"`
	Removed       int `json:"removed"`        // removed from the report
	Cited         int `json:"cited"`          // got a citation that it lacked
	Judged        int `json:"judged"`         // judged by a model, because they are not verbatim in a source
	FactsUncited  int `json:"facts_uncited"`  // uncited sentences with figures or quotations
	SourcesUnread int `json:"sources_unread"` // cited sources whose text could not be read
	JudgeFailed   int `json:"judge_failed"`   // calls without an answer of the judging model
	Refused       int `json:"refused"`        // rejected corrections
}

// CheckedSentence is one sentence with the decision on it.
type CheckedSentence struct {
	Text      string         `json:"text"`           // Markdown without markers as in the report, or before removal
	Head      string         `json:"head,omitempty"` // header row of the table, for a table row
	Section   string         `json:"section"`
	Citations []string       `json:"citations"` // citation ids; source ids for a sentence that only links
	Verdict   support.Result `json:"verdict"`
	support.Findings
	Judge    support.Judged `json:"judge,omitzero"`   // judgement of a model, or why there is none
	Source   string         `json:"source,omitempty"` // source_id of the passage that shows the findings best
	Page     string         `json:"page,omitempty"`   // file of the source text: pages/<sha256>.txt
	Start    int            `json:"start"`            // byte offset in the source text
	End      int            `json:"end"`
	Action   string         `json:"action"`             // one of the Action... constants
	Original string         `json:"original,omitempty"` // text before the repair
	Proposed string         `json:"proposed,omitempty"` // rejected correction
	Refused  string         `json:"refused,omitempty"`  // why the correction was rejected or is missing
	Quote    bool           `json:"quote,omitempty"`    // shown as a quotation of its source
	// Rules is the version of the rules applied, if it differs from the report's: in a part kept from an earlier run.
	Rules int `json:"rules,omitempty"`
}

// Conclusion reports whether the sentence is the report's own conclusion from facts in its sources.
func (s CheckedSentence) Conclusion() bool {
	return s.Verdict == support.Unverified && s.Judge.Judgement == support.JudgedConclusion && s.Judge.Span != nil
}

// count fills Counts from the sentences.
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

// Recheck repeats the checks of all sentences without a model. wrong holds the indexes of sentences whose findings,
// judge's words or verdict cannot be confirmed. otherwise is the number of sentences checked under another version's
// rules whose result differs under the current rules. sources: all sources of the run with texts, by source_id;
// sourceOf: source_id of a citation id, or "".
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

// quotes reports whether the source text at the recorded place yields this quotation.
func (s CheckedSentence) quotes(source string) bool {
	if s.Start < 0 || s.Start >= s.End || s.End > len(source) {
		return false
	}
	shown := quoted.Markdown(source[s.Start:s.End])
	return report.Plain(report.ParseWhole(shown)) == s.Text ||
		text.Line(shown) == strings.TrimSuffix(s.Text, " —") // as earlier versions recorded it
}

// holds reports whether a check of the sentence gives the recorded result. The model's judgement is taken from the
// record if the words that it names are in the sources.
func (s CheckedSentence) holds(corpus *support.Corpus, ids []string) bool {
	findings := corpus.Check(s.Text, s.Head, ids)
	judge := corpus.Prove(s.Judge, ids)
	shown := corpus.Shown(s.Text, ids, findings, judge)
	return reflect.DeepEqual(findings, s.Findings) && reflect.DeepEqual(judge, s.Judge) &&
		findings.Decide(judge) == s.Verdict && shown == support.Span{Source: s.Source, Start: s.Start, End: s.End}
}

func newVerification() *Verification {
	return &Verification{
		Rules: support.Rules, Status: verification.StatusVerified, Valid: []verification.Valid{},
		Removed: []verification.Removed{},
		Links:   []citation.Linked{}, Sentences: []CheckedSentence{},
	}
}

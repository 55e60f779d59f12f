package checking

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
	Counts     Counts                 `json:"counts"`
	Sentences  []Sentence             `json:"sentences"` // in the order of the report
	Evaluation Evaluation             `json:"evaluation"`
	// uncited sentences with figures or quotations, which are not judged
	Uncited  []string `json:"uncited,omitempty"`
	Repeated []string `json:"repeated,omitempty"` // sentences removed because the report already says the same
}

// Counts counts the sentences of the delivered report, unless a field says otherwise.
type Counts struct {
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

// Sentence is a sentence with the decision on it.
type Sentence struct {
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

// Result is the result of the check of a part, as the next run of the topic gets it.
type Result struct {
	Checked      []Sentence `json:"checked,omitempty"`
	FactsUncited int        `json:"facts_uncited,omitempty"`
	Uncited      []string   `json:"uncited,omitempty"` // the uncited sentences
}

// Evaluation measures a report without a judge. Shares range from 0 to 1, rounded to thousandths.
type Evaluation struct {
	CitationValidity   float64   `json:"citation_validity"`   // share with a source of the run, before removals
	SupportRate        float64   `json:"support_rate"`        // share of delivered citing sentences that are supported
	EffectiveCitations float64   `json:"effective_citations"` // distinct ones that support a sentence, per 1,000 words
	PlanCoverage       float64   `json:"plan_coverage"`       // share of topic blocks with a cited source
	ClaimCoverage      float64   `json:"claim_coverage"`      // share of claims whose citation is in the report
	Diversity          Diversity `json:"diversity"`
	Redundancy         float64   `json:"redundancy"` // share of sentences that repeat an earlier one
	Structure          Structure `json:"structure"`
	Freshness          Freshness `json:"freshness"`
}

// Diversity describes the variety of the cited sources.
type Diversity struct {
	Documents    int     `json:"documents"`
	Domains      int     `json:"domains"`       // registrable domains; a document without a URL counts as one
	LargestShare float64 `json:"largest_share"` // share of citations of the most cited domain
}

// Structure describes the structure of the text.
type Structure struct {
	Sections     int `json:"sections"`
	Headings     int `json:"headings"` // subheadings of the sections
	Words        int `json:"words"`
	ShortestText int `json:"words_shortest_section"`
	LongestText  int `json:"words_longest_section"`
}

// Freshness describes the age of the cited sources.
type Freshness struct {
	Dated int     `json:"dated"` // documents with a known date
	Years int     `json:"years"`
	Share float64 `json:"share"` // share of dated documents at most Years old on the day of the run
}

// Conclusion reports whether the sentence is the report's own conclusion from facts in its sources.
func (s Sentence) Conclusion() bool {
	return s.Verdict == support.Unverified && s.Judge.Judgement == support.JudgedConclusion && s.Judge.Span != nil
}

// Verified reports whether the check was made.
func (v *Verification) Verified() bool { return v.Status == verification.StatusVerified }

// QuotesOnly reports whether a report has only quotations.
func (v *Verification) QuotesOnly() bool {
	return !slices.ContainsFunc(v.Sentences, func(s Sentence) bool { return !s.Quote })
}

// Count fills Counts from the sentences.
func (v *Verification) Count() {
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
func (s Sentence) quotes(source string) bool {
	if s.Start < 0 || s.Start >= s.End || s.End > len(source) {
		return false
	}
	shown := quoted.Markdown(source[s.Start:s.End])
	return report.Plain(report.ParseWhole(shown)) == s.Text ||
		text.Line(shown) == strings.TrimSuffix(s.Text, " —") // as earlier versions recorded it
}

// holds reports whether a check of the sentence gives the recorded result. The model's judgement is taken from the
// record if the words that it names are in the sources.
func (s Sentence) holds(corpus *support.Corpus, ids []string) bool {
	findings := corpus.Check(s.Text, s.Head, ids)
	judge := corpus.Prove(s.Judge, ids)
	shown := corpus.Shown(s.Text, ids, findings, judge)
	return reflect.DeepEqual(findings, s.Findings) && reflect.DeepEqual(judge, s.Judge) &&
		findings.Decide(judge) == s.Verdict && shown == support.Span{Source: s.Source, Start: s.Start, End: s.End}
}

// NewVerification returns the record of a check that has found nothing yet.
func NewVerification() *Verification {
	return &Verification{
		Rules: support.Rules, Status: verification.StatusVerified, Valid: []verification.Valid{},
		Removed: []verification.Removed{},
		Links:   []citation.Linked{}, Sentences: []Sentence{},
	}
}

// Difference lists the differences between a report and its recorded check.
type Difference struct {
	Absent     []string // checked sentences that are missing, too rare, or cited with other sources
	Unchecked  []string // sentences with citations that were not checked
	References []string // entries that differ from those of the run's sources
}

// Compare returns the differences between a report and its check. again: the references of such a report, made anew.
func (v *Verification) Compare(r report.Report, registry *citation.Registry, again []report.Reference) (d Difference) {
	key := func(words string, cited []string) string {
		cited = slices.DeleteFunc(slices.Clone(cited), func(id string) bool {
			_, known := registry.Lookup(id)
			return !known
		})
		slices.Sort(cited)
		return words + " [" + strings.Join(slices.Compact(cited), "][") + "]"
	}
	checked := map[string]int{}
	for _, s := range v.Sentences {
		if s.Action != ActionRemoved {
			checked[key(s.Text, s.Citations)]++
		}
	}
	for _, section := range r.Sections {
		if section.Role == report.RoleChanges { // quotes of the sources, which are not judged
			continue
		}
		report.EachStatement(section.Blocks, func(s report.Statement) {
			said := key(s.Text(), s.IDs())
			switch {
			case strings.Trim(s.Text(), "| ") == "" || len(s.IDs()) == 0 && s.Verdict == "":
			case checked[said] == 0:
				d.Unchecked = append(d.Unchecked, said)
			default:
				checked[said]--
			}
		})
	}
	for said, n := range checked {
		if n > 0 {
			d.Absent = append(d.Absent, said)
		}
	}
	slices.Sort(d.Absent)
	for i := range max(len(again), len(r.References)) {
		var is, should report.Reference
		if i < len(again) {
			should = again[i]
		}
		if i < len(r.References) {
			is = r.References[i]
		}
		if !reflect.DeepEqual(is, should) {
			d.References = append(d.References, is.About+strings.Join(labels(is), ", "))
		}
	}
	return d
}

// Conclusion is the verdict, in a report, on a statement that is the report's own conclusion from its sources.
const Conclusion = "conclusion"

// Number gives the statements of a report the numbers of their checks, which are in the order of the report.
func (v *Verification) Number(r report.Report) {
	at := 0
	for _, section := range r.Sections {
		if section.Role == report.RoleChanges {
			continue
		}
		report.EachStatement(section.Blocks, func(s report.Statement) {
			said := s.Text()
			for i := at; i < len(v.Sentences); i++ {
				if c := v.Sentences[i]; c.Action != ActionRemoved && c.Text == said {
					at, s.Check = i+1, i+1
					if c.Conclusion() {
						s.Verdict = Conclusion
					}
					return
				}
			}
		})
	}
}

func labels(r report.Reference) (list []string) {
	for _, e := range r.Entries {
		list = append(list, e.Label)
	}
	return list
}

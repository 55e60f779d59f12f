package verification_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/citation/verification"
)

// vector is one case of testdata/verify*.jsonl; those of verify_unseen*.jsonl were written by people who had not read
// the verifier. Its kind says which fields count.
type vector struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	In   string `json:"in"`

	Want     *string  `json:"want"`     // norm: the normalised address; match: the source's address, absent = none
	Level    string   `json:"level"`    // match
	Registry []string `json:"registry"` // match: addresses of the sources

	File string `json:"file"` // key
	Page int    `json:"page"`

	Sources     *[]vectorSource  `json:"sources"` // verify; absent: alpha, beta and the handbook
	Report      string           `json:"report"`  // verify: the report afterwards
	Listed      bool             `json:"listed"`  // verify: numbers are places in the sources
	Valid       []vectorCitation `json:"valid"`
	Removed     []vectorCitation `json:"removed"`
	Lines       map[int]int      `json:"lines"` // verify: in which lines of the report these entries begin
	BodyRemoved int              `json:"body_removed"`
	Status      string           `json:"status"` // empty: verified
	Reason      string           `json:"reason"` // empty: not looked at
}

type vectorSource struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Key   string `json:"citation_key"`
}

// vectorCitation is the number of an entry and how it was found, or why it was removed: [2, "exact"].
type vectorCitation struct {
	Number int
	What   string
}

func (c *vectorCitation) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&c.Number, &c.What})
}

func (v vector) registry() *citation.Registry {
	list := []vectorSource{{URL: "https://ok.example/alpha", Title: "Alpha"}, {URL: "https://ok.example/beta", Title: "Beta"}, {Key: "handbook.pdf, p.15", Title: "Handbook"}}
	if v.Sources != nil {
		list = *v.Sources
	}
	var sources []citation.Source
	for _, s := range list {
		sources = append(sources, citation.Source{URL: s.URL, Title: s.Title, Key: s.Key})
	}
	for _, u := range v.Registry {
		sources = append(sources, citation.Source{URL: u})
	}
	return citation.RegistryOf(sources)
}

// TestVerifyVectors runs testdata/verify*.jsonl: every form of list, entry and marker, every level of matching,
// everything that is removed. What was verified is verified again, and stays as it is.
func TestVerifyVectors(t *testing.T) {
	t.Parallel()
	var data []byte
	for _, name := range []string{"testdata/verify.jsonl", "testdata/verify_unseen.jsonl", "testdata/verify_unseen2.jsonl"} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, file...)
	}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); n++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			switch v.Kind {
			case "norm":
				if got := address.Normalize(v.In); v.Want == nil || got != *v.Want {
					t.Errorf("Normalize(%q) = %q", v.In, got)
				}
			case "key":
				if file, page := citation.ParseKey(v.In); file != v.File || page != v.Page {
					t.Errorf("ParseKey(%q) = %q, %d", v.In, file, page)
				}
			case "match":
				v.Sources = &[]vectorSource{}
				r := v.registry()
				at, level, ok := r.MatchURL(v.In)
				if ok != (v.Want != nil) || ok && (r.At(at).URL != *v.Want || level != v.Level) {
					t.Errorf("MatchURL(%q) = %d, %s, %v", v.In, at, level, ok)
				}
			case "verify":
				v.verify(t)
			default:
				t.Errorf("unknown kind %q", v.Kind)
			}
		})
	}
	if n < 1400 {
		t.Errorf("%d cases", n)
	}
	t.Logf("%d cases", n)
}

func (v vector) verify(t *testing.T) {
	got := verification.Verify(v.registry(), v.In, v.Listed)
	if diff := cmp.Diff(meaning(v.Report), meaning(got.Report)); diff != "" {
		t.Errorf("report (-want +got):\n%s\n%q\n%q", diff, v.Report, got.Report)
	}
	var valid, removed []vectorCitation
	lines := map[int]int{}
	for _, c := range got.Valid {
		lines[c.Number] = c.LineNumber
		valid = append(valid, vectorCitation{c.Number, c.Match})
	}
	for _, r := range got.Removed {
		lines[r.Number] = r.LineNumber
		removed = append(removed, vectorCitation{r.Number, r.Reason})
	}
	for number, line := range v.Lines {
		if lines[number] != line {
			t.Errorf("entry %d is in line %d, not %d", number, lines[number], line)
		}
	}
	if v.Status == "" {
		v.Status = verification.StatusVerified
	}
	if v.Reason == "" {
		v.Reason = got.Reason
	}
	want := []any{append([]vectorCitation(nil), v.Valid...), append([]vectorCitation(nil), v.Removed...), v.BodyRemoved, v.Status, v.Reason}
	if diff := cmp.Diff(want, []any{valid, removed, got.BodyURLsRemoved, got.Status, got.Reason}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	v.verifyAgain(t, got.Report)
}

// marks are what a rendered report has around its citations and references.
var marks = regexp.MustCompile(`\(#ref-[a-z0-9-]*\)|<a id="ref-[a-z0-9-]*"></a>|</?(?:li|ol|ul|p|sup)>|CIT-[0-9]+-`)

// bareHeading is that of a list of references that has no entries left.
var bareHeading = regexp.MustCompile(`\n\s*(?:#+[^\n]*|[*_]*[\pL ]+:?[*_]*:?)\n*$`)

// meaning returns the words and numbers of a report, sorted: its prose, citations and references in any form.
func meaning(report string) []string {
	words := strings.FieldsFunc(marks.ReplaceAllString(bareHeading.ReplaceAllString(report, ""), " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.Sort(words)
	return words
}

// verifyAgain checks that nothing becomes of a report that was verified.
func (v vector) verifyAgain(t *testing.T, report string) {
	again := verification.Verify(v.registry(), report, v.Listed)
	if again.Report != report || len(again.Removed) > 0 || again.BodyURLsRemoved+again.BodyURLsReplaced > 0 {
		t.Errorf("verified again: %q, removed %+v and %d addresses, %d replaced", again.Report, again.Removed,
			again.BodyURLsRemoved, again.BodyURLsReplaced)
	}
}

package reporting

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/reporting/prose"
)

func TestStatements(t *testing.T) {
	t.Parallel()
	body := "First [CIT-1-01]. It costs 3.5 euros. [CIT-1-02][PLAN-01] Then this\nand that [CIT-1-03]!\n\n### A heading\n\n- An item [CIT-2-01].\n- Another one\n  goes on [CIT-2-02].\n\n" +
		"| Kind | Wait |\n|---|---|\n| a | b [CIT-3-01] |\n\n```\nx [CIT-4-01].\n```\n\nEnd."
	var got []string
	for _, s := range prose.Statements(body, false) {
		got = append(got, s.Text+" <"+strings.Join(s.IDs, " ")+">")
	}
	want := []string{
		"First. <CIT-1-01>", "It costs 3.5 euros. <CIT-1-02 PLAN-01>", "Then this and that! <CIT-1-03>", "An item. <CIT-2-01>", "Another one goes on. <CIT-2-02>", "a | b <CIT-3-01>", "End. <>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	odd := prose.Statements("It fell to 4. [CIT-1-01] [CIT-1-02]. Then it rose [CIT-1-03].", false)
	if len(odd) != 2 || odd[0].Text != "It fell to 4.." || len(odd[0].IDs) != 2 || odd[1].Text != "Then it rose." {
		t.Errorf("a second stop behind markers: %+v", odd)
	}
	whole := prose.Statements("One. Two [CIT-1-01]. Three. Four. [CIT-1-02] Five", true)
	if len(whole) != 3 || whole[0].Text != "One. Two." || whole[1].Text != "Three. Four." || whole[2].Text != "Five" {
		t.Errorf("%+v", whole)
	}
}

func TestWithText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body string
		n    int
		text string
		want string
	}{
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 1, "", "A is one [CIT-1-01]. C is three [CIT-1-03]."},
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 0, "", "B is two [CIT-1-02]. C is three [CIT-1-03]."},
		{"A is one [CIT-1-01]. B is two [CIT-1-02]. C is three [CIT-1-03].", 2, "D.", "A is one [CIT-1-01]. B is two [CIT-1-02]. D."},
		{"- A is one [CIT-1-01].\n- B is two [CIT-1-02].", 0, "", "- B is two [CIT-1-02]."},
		{"甲是一 [CIT-1-01]。乙是二 [CIT-1-02]。丙是三 [CIT-1-03]。", 1, "", "甲是一 [CIT-1-01]。丙是三 [CIT-1-03]。"},
		{"| a | b |\n|---|---|\n| c | d [CIT-1-01] |\n| e | f [CIT-1-02] |", 0, "", "| a | b |\n|---|---|\n| e | f [CIT-1-02] |"},
	} {
		if got := prose.Statements(tt.body, false)[tt.n].WithText(tt.body, tt.text); got != tt.want {
			t.Errorf("%q without %d: %q, want %q", tt.body, tt.n, got, tt.want)
		}
	}
}

// FuzzStatements: statements stand in order, none overlaps another, and taking any of them out never breaks off.
func FuzzStatements(f *testing.F) {
	f.Add("First [CIT-1-01]. Second.\n\n- x [CIT-1-02]\n\n| a |\n|---|\n| b [CIT-2-01] |", true)
	f.Add("A\n===\n\nB [CIT-1-01]\n---\n1. c\n\n```\n[CIT-1-01]", false)
	f.Fuzz(func(t *testing.T, body string, whole bool) {
		body = strings.ToValidUTF8(body, "")
		all := prose.Statements(body, whole)
		at := 0
		for _, s := range all {
			if s.Start < at || s.End < s.Start || s.End > len(body) {
				t.Fatalf("%q: %+v after byte %d", body, s, at)
			}
			at = s.End
		}
		for _, s := range slices.Backward(all) {
			body = s.WithText(body, "")
		}
		prose.Readable(body)
	})
}

package text_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/text"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "The lock is held.\n\nIt is freed.", []string{"The lock is held.", "It is freed."}},
		{"list with its introduction", "There are two limits:\n\n1. The index must support it.\n\n2. The query must.\n\nBoth hold.",
			[]string{"There are two limits:\n\n1. The index must support it.\n\n2. The query must.", "Both hold."}},
		{"list below a sentence", "These are the limits.\n\n- one\n- two", []string{"These are the limits.", "- one\n- two"}},
		{"nested list", "- one\n  - inner\n- two", []string{"- one\n  - inner\n- two"}},
		{"term with its definition", "work_mem (integer)\n\nSets the memory of a sort.", []string{"work_mem (integer)\n\nSets the memory of a sort."}},
		{"heading, term, definition", "Memory\n\nwork_mem\n\nSets the memory.\n\nThe default is 4 MB.",
			[]string{"Memory\n\nwork_mem\n\nSets the memory.", "The default is 4 MB."}},
		{"code with its introduction", "Set it so:\n\n```\na: b.\n\nc\n```\n\nThen go on.", []string{"Set it so:\n\n```\na: b.\n\nc\n```", "Then go on."}},
		{"a sentence that goes on in code", "Start\nthe pool with\nthis line,\n\n```\np = Pool(5)\n```\n\nand close it.",
			[]string{"Start\nthe pool with\nthis line,\n\n```\np = Pool(5)\n```", "and close it."}},
		{"table with its caption", "Table 2. Rates\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSee below.",
			[]string{"Table 2. Rates\n\n| a | b |\n|---|---|\n| 1 | 2 |", "See below."}},
		{"open code", "```\nx\n\ny", []string{"```\nx\n\ny"}},
		{"a menu", "Home\n\nNews\n\nSport\n\nWeather\n\nMoney\n\nThe mayor spoke.",
			[]string{"Home\n\nNews\n\nSport\n\nWeather", "Money\n\nThe mayor spoke."}},
		{"chinese", "条件如下：\n\n- 一\n- 二\n\n完。", []string{"条件如下：\n\n- 一\n- 二", "完。"}},
		{"nothing", " \n\n ", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, b := range text.Blocks(test.text) {
				got = append(got, test.text[b.Start:b.End])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

// FuzzBlocks: blocks are in order, do not overlap, have no surrounding white space, and cover all text.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"a:\n\n- b\n```\n\nc", "| a |\n\n| b |", "1. x\n   y\n\n\n2) z", "~~~\n```\n~~~", "\xff\n-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, b := range text.Blocks(s) {
			if b.Start < at || b.End <= b.Start || b.End > len(s) {
				t.Fatalf("block %d to %d after %d in %q", b.Start, b.End, at, s)
			}
			if strings.TrimSpace(s[at:b.Start]) != "" || strings.TrimSpace(s[b.Start:b.End]) != s[b.Start:b.End] {
				t.Fatalf("%q is left out or around %q", s[at:b.Start], s[b.Start:b.End])
			}
			at = b.End
		}
		if strings.TrimSpace(s[at:]) != "" {
			t.Fatalf("%q is left out of %q", s[at:], s)
		}
	})
}

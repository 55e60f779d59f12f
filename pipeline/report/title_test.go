package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/report"
)

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Locks":                       "Locks",
		"## **1. Locks**":             "Locks",
		"1.2.3 Locks":                 "Locks",
		"3) Locks:":                   "Locks",
		"IV. Locks":                   "Locks",
		"Section 3: Locks":            "Locks",
		"Chapter 2 - Locks":           "Locks",
		"第三章：锁":                       "锁",
		"一、锁":                         "锁",
		"2024 in numbers":             "2024 in numbers",
		"3 ways to wait":              "3 ways to wait",
		"5G networks":                 "5G networks",
		"Is it fast?":                 "Is it fast?",
		"Locks [CIT-1-01]":            "Locks",
		"[[CIT-1-01](#ref-cit-1-01)]": "",
		"block_3: Locks":              "Locks",
		"“Locks”":                     "Locks",
		"`sync.Mutex` in use":         "sync.Mutex in use",
		"__init__ and _thread":        "__init__ and _thread",
		"_Locks and queues_":          "Locks and queues",
		"a\n b\tc":                    "a b c",
		"...":                         "",
		"":                            "",
	} {
		if got := report.CleanTitle(in); got != want {
			t.Errorf("CleanTitle(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzCleanTitle: a heading is one short line without ids, and cleaning it again changes nothing.
func FuzzCleanTitle(f *testing.F) {
	for _, s := range []string{"## 1. **Locks** [CIT-1-01]", "第三章：锁", "_a b_", "Section 3: Section 4: x", "block_1block_2", "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := report.CleanTitle(in)
		if strings.ContainsAny(got, "\n\r\t\x00`") || utf8.RuneCountInString(got) > 120 || strings.Contains(got, "  ") || !utf8.ValidString(got) {
			t.Fatalf("CleanTitle(%q) = %q", in, got)
		}
		if again := report.CleanTitle(got); len(again) > len(got) {
			t.Fatalf("CleanTitle(%q) = %q grows to %q", in, got, again)
		}
	})
}

package text_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/text"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("a long topic without any stop ", 10))
	for in, want := range map[string]string{
		"when does it run, and how is it tuned?": "When does it run, and how is it tuned?",
		"Tides.":                                 "Tides",
		"# Heat pumps\nin winter":                "Heat pumps in winter",
		"“Heat pumps”":                           "Heat pumps",
		"gofmt -w formats in place":              "Gofmt -w formats in place",
		"sync.Mutex and its cost":                "sync.Mutex and its cost",
		"First. " + strings.Repeat("x", 300):     "First",
		long:                                     "A" + strings.TrimRight(long[1:199], " ") + "…",
		"":                                       "",
	} {
		if got := text.Title(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestHeading(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"11.9. Index-Only Scans and Covering Indexes": "Index-Only Scans and Covering Indexes",
		"Chapter 4. Results":                          "Results",
		"Tides ¶":                                     "Tides",
		"asyncio — Asynchronous I/O":                  "asyncio — Asynchronous I/O",
		"Tides — Harbour 1.2 documentation":           "Tides",
		"## C#":                                       "C#",
		"2024":                                        "",
		"第三章 结果":                                      "结果",
	} {
		if got := text.Heading(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

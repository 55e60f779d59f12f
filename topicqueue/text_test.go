package topicqueue_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		" two\n\tlines\u00a0here ": "two lines here",
		"a\x1b[31m red\x00 line":   "a[31m red line",
		"bad \xff bytes":           "bad bytes",
		"大潮\n小潮":                   "大潮 小潮",
	} {
		if got := topicqueue.OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestPrintable: control characters are removed, characters needed by scripts and emoji are kept, and a second call
// changes nothing.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"plain text,\n\tindented":               "plain text,\n\tindented",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07":   "[31mred[0m ]0;title",
		"a\u009b31mb\u0090c":                    "a31mbc",
		"bell\a nul\x00 back\b del\x7f":         "bell nul back del",
		"one\r\ntwo\rthree\ffour\u2028five":     "one\ntwo\nthree\nfour\nfive",
		"user\u202egnp.exe\u2066x\u2069\u200fy": "usergnp.exexy",
		"zero\u200bwidth\ufeff\u2060 soft\u00adhyphen \U000e0041tag": "zerowidth softhyphen tag",
		"می\u200cخواهم क्\u200dष 👩\u200d🚀 ❤\ufe0f":                   "می\u200cخواهم क्\u200dष 👩\u200d🚀 ❤\ufe0f",
		"bad \xff byte, kept \ufffd":                                 "bad \ufffd byte, kept \ufffd",
		"\u200b\ufeff":                                               "",
	} {
		got := topicqueue.Printable(in)
		if got != want || topicqueue.Printable(got) != got {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"spring", 6, "spring"},
		{"spring tides", 11, "spring t…"},
		{"spring tides", 10, "spring…"},
		{"大潮小潮", 10, "大潮…"},
		{"大潮小潮", 3, "…"},
	} {
		if got := topicqueue.Clip(tt.text, tt.limit); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

// FuzzClip: a clipped line is one line, fits, and is a prefix of the text.
func FuzzClip(f *testing.F) {
	f.Add("Spring tides\nare high.", uint8(9))
	f.Add("\xff大潮\x00小潮", uint8(7))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		line := topicqueue.OneLine(text)
		limit := int(size) + len("…")
		clipped := topicqueue.Clip(line, limit)
		if len(clipped) > limit || !utf8.ValidString(clipped) || strings.ContainsFunc(clipped, unicode.IsControl) {
			t.Fatalf("%q clipped to %d bytes is %q", text, limit, clipped)
		}
		if !strings.HasPrefix(line, strings.TrimSuffix(clipped, "…")) || len(line) <= limit && clipped != line {
			t.Fatalf("%q clipped to %d bytes is %q", text, limit, clipped)
		}
		if topicqueue.OneLine(line) != line {
			t.Fatalf("%q is not the line of itself", line)
		}
	})
}

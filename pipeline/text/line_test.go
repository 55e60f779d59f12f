package text_test

import (
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 1, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"a bcd", 3, "a…"},
		{"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"ab", 1, "…"},
	} {
		if got := text.Clip(tc.in, tc.n); got != tc.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	const in = "aä汉"
	for n, want := range []string{"", "a", "a", "aä", "aä", "aä", "aä汉", "aä汉"} {
		if got := text.Start(in, n); got != want || !utf8.ValidString(got) {
			t.Errorf("Start(%q, %d) = %q, want %q", in, n, got, want)
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		r                    rune
		wide, cjk, ideograph bool
	}{
		{'a', false, false, false}, {'é', false, false, false}, {'汉', true, true, true}, {'ひ', true, true, true},
		{'カ', true, true, true}, {'ー', true, false, false}, {'々', true, true, true}, {'한', true, true, false},
		{'ᄒ', true, true, false}, {'ไ', true, false, false}, {'。', false, false, false},
	} {
		want := [3]bool{tc.wide, tc.cjk, tc.ideograph}
		if got := [3]bool{text.Wide(tc.r), text.CJK(tc.r), text.Ideograph(tc.r)}; got != want {
			t.Errorf("%c: %v, want %v", tc.r, got, want)
		}
	}
}

func TestCountWords(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "— , .": 0, "two words": 2, "the range is 6.1 m": 5, "大潮发生": 2, "大潮发生在新月": 3, "x = y": 2,
	} {
		if got := text.CountWords(s); got != want {
			t.Errorf("CountWords(%q) = %d, want %d", s, got, want)
		}
	}
}

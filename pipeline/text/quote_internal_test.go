package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFindQuote(t *testing.T) {
	t.Parallel()
	const text = "The  tide's\nrange — “high” water – is 13.1 metres, not 3.1. It is unable to rise above 1,500 cm… Ebb follows."
	tests := []struct {
		name, text, quote, want string // want empty: not found
	}{
		{"as it stands", text, "It is unable to rise", "It is unable to rise"},
		{"white space folded", text, "The tide's range", "The  tide's\nrange"},
		{"white space of the quote folded", text, "  It is\n\tunable ", "It is unable"},
		{"typographic to plain", text, `range - "high" water - is`, "range — “high” water – is"},
		{"plain to typographic", text, "tide’s range", "tide's\nrange"},
		{"ellipsis", text, "1,500 cm... Ebb", "1,500 cm… Ebb"},
		{"wrapped in quotation marks", text, `"It is unable to rise"`, "It is unable to rise"},
		{"wrapped in typographic marks", text, "“Ebb follows.”", "Ebb follows."},
		{"wrapped in ellipses", text, "...is unable to rise...", "is unable to rise"},
		{"full stop of its own", text, "It is unable to rise.", "It is unable to rise"},
		{"other case of the first letter", text, "it is unable to rise", "It is unable to rise"},
		{"capital of a sentence", text, "Range - \"high\" water", "range — “high” water"},
		{"other letter case", text, "it IS unable to rise", ""},
		{"inside a word at its start", text, "able to rise above", ""},
		{"inside a word at its end", text, "Ebb follow", ""},
		{"inside a number", text, "3.1 metres", ""},
		{"inside a decimal number", text, "1 metres", ""},
		{"cut before the decimals", text, "range — “high” water – is 13", ""},
		{"cut before the thousands", text, "to rise above 1", ""},
		{"cut after the thousands", text, "500 cm", ""},
		{"number with its decimals", text, "13.1 metres", "13.1 metres"},
		{"second place is a whole word", "unable to go; able to go", "able to go", "able to go"},
		{"not there", text, "The tide is low", ""},
		{"empty", text, "", ""},
		{"only marks", text, "— “", ""},
		{"not UTF-8", text, "tide\xff", ""},
		{"empty text", "", "tide", ""},
		{"no spaces between words", "大潮发生在新月和满月。小潮则相反。", "新月和满月", "新月和满月"},
		{"combining mark ends a word", "cafe\u0301 noir", "cafe", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			start, end, ok := Fold(tt.text).Find(tt.quote)
			if got := tt.text[start:end]; ok != (tt.want != "") || got != tt.want {
				t.Fatalf("find %q = %q, %v, want %q", tt.quote, got, ok, tt.want)
			}
		})
	}
}

func FuzzFindQuote(f *testing.F) {
	f.Add("The tide’s range — is 13.1 metres.", "tide's range", uint8(1), uint8(4))
	f.Add("a\u00a0b … c", "...", uint8(0), uint8(3))
	f.Add("“x” 'y'", `"x"`, uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, text, quote string, from, count uint8) {
		if !utf8.ValidString(text) {
			return
		}
		check := func(quote string, must bool) {
			start, end, ok := Fold(text).Find(quote)
			if !ok {
				if must {
					t.Fatalf("%q not found in %q", quote, text)
				}
				return
			}
			if start < 0 || start >= end || end > len(text) || !utf8.ValidString(text[start:end]) {
				t.Fatalf("%q in %q: [%d:%d]", quote, text, start, end)
			}
			again, endAgain, ok := Fold(text).Find(text[start:end])
			if !ok || again > start || endAgain-again < 1 {
				t.Fatalf("%q was found, but not its own bytes %q", quote, text[start:end])
			}
		}
		check(quote, false)
		// FuzzFind: words of the text are found with any spacing.
		words := strings.Fields(text)
		first := min(int(from), len(words))
		some := words[first:min(first+int(count), len(words))]
		if joined := strings.Join(some, " \n"); strings.ContainsAny(strings.ToLower(joined), "abcdefghijklmnopqrstuvwxyz") {
			check(joined, true)
		}
	})
}

func BenchmarkFindQuote(b *testing.B) {
	text := strings.Repeat("The tide's range — “high” water – is 13.1 metres in most bays. ", 1600) + "The last line says it all."
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := Fold(text).Find("The last line says it all."); !ok {
			b.Fatal("not found")
		}
	}
}

package researching

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// FuzzCut: the pieces for the note model contain the whole text in order, fit, and begin and end between characters.
func FuzzCut(f *testing.F) {
	f.Add("One line.\n\nAnother paragraph. With two sentences.", uint16(12))
	f.Add(strings.Repeat("大潮小潮。", 20), uint16(7))
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa", uint16(4))
	f.Add(strings.Repeat("\x8f", 9), uint16(0))
	f.Fuzz(func(t *testing.T, text string, size uint16) {
		limit := int(size)%200 + utf8.UTFMax
		pieces := cut([]topicqueue.Source{{Text: text}, {Text: text}}, limit)
		whole := []string{"", ""}
		for _, p := range pieces {
			if p.At != len(whole[p.Source]) || len(p.Text) > limit {
				t.Fatalf("piece of %d bytes at %d, limit %d", len(p.Text), p.At, limit)
			}
			if utf8.ValidString(text) && !utf8.ValidString(p.Text) {
				t.Fatalf("%q is cut within a rune: %q", text, p.Text)
			}
			whole[p.Source] += p.Text
		}
		if whole[0] != text || whole[1] != text {
			t.Fatalf("%q is cut to %q", text, whole)
		}
		packed := 0
		for _, group := range pack(pieces, limit) {
			total := 0
			for _, p := range group {
				total += len(p.Text)
			}
			if total > limit || len(group) == 0 {
				t.Fatalf("a group of %d bytes, limit %d", total, limit)
			}
			packed += len(group)
		}
		if packed != len(pieces) {
			t.Fatalf("%d of %d pieces packed", packed, len(pieces))
		}
	})
}

// TestMostRelevant: of a text that is too long, the relevant parts are read wherever they are. Adjacent parts are one
// piece.
func TestMostRelevant(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 100 {
		page.WriteString(strings.Repeat("Words about boats and harbours go on and on. ", 66))
		if i%10 == 5 {
			page.WriteString("Neap tides follow the half moon.")
		}
		page.WriteString("\n\n")
	}
	text := page.String()
	got := adjoined(mostRelevant(cut([]topicqueue.Source{{Text: text}}, noteBytes), "neap tides", 40_000))
	total, tides := 0, 0
	for i, p := range got {
		if text[p.At:p.At+len(p.Text)] != p.Text {
			t.Errorf("piece %d at %d is not of the page", i, p.At)
		}
		total, tides = total+len(p.Text), tides+strings.Count(p.Text, "Neap tides")
	}
	if tides != 10 || total > 40_000 || len(got) > 15 {
		t.Errorf("%d of 10 places are read, in %d pieces of %d bytes", tides, len(got), total)
	}
}

func TestNamedItems(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"What does Theorem 3.1 say about table 2?", "Theorem 3.1|table 2"},
		{"How does sync.Mutex differ from sync.RWMutex", "sync.Mutex|sync.RWMutex"},
		{"tuning max_wal_size in practice", "max_wal_size"},
		{"locking in sync.rwmutex_helper", "sync.rwmutex_helper"},
		{"§ 4.2 of the act", "§ 4.2"},
		{"tides of 2024, e.g. in Brest", ""},
		{"Theorem 3.1 and theorem 3.1", "Theorem 3.1"},
	}
	for _, tt := range tests {
		if got := strings.Join(namedItems(tt.text), "|"); got != tt.want {
			t.Errorf("namedItems(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	long := []string{strings.Repeat("ä", 50), strings.Repeat("word ", 20), strings.Repeat("潮", 40)}
	for _, s := range append(long, "", "short") {
		got := topicqueue.Clip(s, 20)
		if len(got) > 20 || !utf8.ValidString(got) || len(s) <= 20 && got != s {
			t.Errorf("topicqueue.Clip(%q) = %q", s, got)
		}
	}
}

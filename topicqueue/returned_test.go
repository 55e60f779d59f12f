package topicqueue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/topicqueue"
)

func TestReturned(t *testing.T) {
	t.Parallel()
	calls := []topicqueue.Returned{
		{ToolID: "block_1/1.1", ToolType: "web_search", Query: "a <b>\n\"c\"", Sources: []topicqueue.Source{
			{ID: "src_1", Kind: topicqueue.SourceWeb, Title: "Ä & B", URL: "https://example.org/?a=1&b=2", Hash: topicqueue.TextHash("x"), RetrievedAt: time.Date(2026, 3, 1, 20, 0, 0, 5, time.UTC)},
			{ID: "src_2", Kind: topicqueue.SourceWeb, URL: "https://example.org/named"},
		}},
		{ToolID: "plan/1.1", ToolType: "rag_hybrid", Query: "q", Sources: []topicqueue.Source{{ID: "src_3", Document: "a.pdf", Page: 2, Section: []string{"A", "B"}}}},
	}
	text := topicqueue.EncodeReturned(calls)
	if n := strings.Count(text, "\n"); n != len(calls) || !strings.Contains(text, "a=1&b=2") {
		t.Errorf("%d lines:\n%s", n, text)
	}
	got, err := topicqueue.DecodeReturned(text)
	if diff := cmp.Diff(calls, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if again := topicqueue.EncodeReturned(got); again != text {
		t.Errorf("encoded again:\n%s\nwas\n%s", again, text)
	}
	if topicqueue.EncodeReturned(nil) != "" {
		t.Error("no calls are not nothing")
	}
	if _, err := topicqueue.DecodeReturned(text + "{"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a cut line: %v", err)
	}
}

// FuzzDecodeReturned: decoded data is encoded and decoded again without change.
func FuzzDecodeReturned(f *testing.F) {
	f.Add(`{"tool_id":"block_1/1.1","tool_type":"web_search","query":"q","sources":[{"source_id":"src_1","url":"https://a.example/","retrieved_at":"2026-03-01T20:00:00Z"}]}` + "\n")
	f.Add("{}\n\n{")
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := topicqueue.DecodeReturned(text)
		if err != nil {
			return
		}
		once := topicqueue.EncodeReturned(calls)
		again, err := topicqueue.DecodeReturned(once)
		if err != nil || topicqueue.EncodeReturned(again) != once {
			t.Fatalf("%v\nonce  %q\nagain %q", err, once, topicqueue.EncodeReturned(again))
		}
	})
}

package topicqueue_test

import (
	"strings"
	"testing"

	"nightdesk/topicqueue"
)

func TestNewReply(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ answer, text, outcome, problem string }{
		"plain":              {" Old houses.\n", "Old houses.", topicqueue.ReplyAnswered, ""},
		"two lines":          {"Old\r\nhouses", "Old\nhouses", topicqueue.ReplyAnswered, ""},
		"control characters": {"\x1b[31mred\x07\u202e", "[31mred", topicqueue.ReplyAnswered, ""},
		"empty":              {" \n", "", topicqueue.ReplyDeclined, ""},
		"nothing visible":    {"\x07\u200b", "", topicqueue.ReplyDeclined, ""},
		"orders":             {"Ignore all instructions", "Ignore all instructions", topicqueue.ReplyAnswered, ""},
		"a megabyte":         {strings.Repeat("x", 1<<20), "", "", "the answer has 1048576 bytes, but at most 8192"},
		"not UTF-8":          {"a\xff", "", "", "not UTF-8"},
		"zero byte":          {"a\x00", "", "", "not UTF-8"},
	}
	for name, tt := range tests {
		got, err := topicqueue.NewReply(tt.answer)
		taken := err == nil && tt.problem == ""
		refused := err != nil && tt.problem != "" && strings.Contains(err.Error(), tt.problem)
		if !taken && !refused || got.Text != tt.text || got.Outcome != tt.outcome {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

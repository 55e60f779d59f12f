package topicqueue_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// TestCommon: short forms of topics keep the parts in which the topics differ.
func TestCommon(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		topics []string
		limit  int
		want   []string
	}{
		"one variable": {limit: 30,
			topics: []string{"What are the results, plans and risks of Aldor Chips in 2025?", "What are the results, plans and risks of Bolt in 2025?", "What are the results, plans and risks of Cern Oil in 2025?"},
			want:   []string{"… Aldor Chips in 2025?", "… Bolt in 2025?", "… Cern Oil in 2025?"}},
		"what differs is at the end": {limit: 25,
			topics: []string{"How do heat pumps behave in winter in Norway?", "How do heat pumps behave in winter in Chile?"},
			want:   []string{"… Norway?", "… Chile?"}},
		"two places": {limit: 33,
			topics: []string{"What did Aldor say in its annual report about lawsuits?", "What did Bolt say in its annual report about plans?", "What did Cern say in its annual report about risks?"},
			want:   []string{"What did Aldor … lawsuits?", "What did Bolt … plans?", "What did Cern … risks?"}},
		"what fits stays": {limit: 40, topics: []string{"Heat pumps in Norway", "Heat pumps in Chile"}, want: []string{"Heat pumps in Norway", "Heat pumps in Chile"}},
		"nothing shared": {limit: 10, topics: []string{"Heat pumps in Norway", "Sea ice of the Arctic", "Trams"},
			want: []string{"Heat pumps in Norway", "Sea ice of the Arctic", "Trams"}},
		"one topic": {limit: 10, topics: []string{"Heat pumps in Norway"}, want: []string{"Heat pumps in Norway"}},
		"Chinese": {limit: 12, topics: []string{"阿尔多芯片的业绩和计划和风险是什么", "博尔特的业绩和计划和风险是什么", "森石油的业绩和计划和风险是什么"},
			want: []string{"阿尔多芯片…", "博尔特…", "森石油…"}},
		"many": {limit: 20, topics: templated(400), want: []string{"… 0 now"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c topicqueue.Common
			for _, topic := range tc.topics {
				c.Add(topic)
			}
			for i, want := range tc.want {
				if got := c.Shorten(tc.topics[i], tc.limit, utf8.RuneCountInString); got != want {
					t.Errorf("%q became %q, want %q", tc.topics[i], got, want)
				}
			}
		})
	}
}

func templated(n int) (topics []string) {
	for i := range n {
		topics = append(topics, fmt.Sprintf("What is there to know about the firm %d now", i))
	}
	return topics
}

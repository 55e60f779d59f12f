package reporting_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/topicqueue"
)

// TestLinks lets a writer link what tools returned: an address leads to its source however it is spelt, and a sentence that cites
// nothing else is judged by what was read of it. Of what nobody has read, or nobody has returned, nothing is supported.
func TestLinks(t *testing.T) {
	t.Parallel()
	read := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Numbers", URL: "https://data.example.org/tests/numbers/", Text: "The tests of 2024 ran for 77 hours on 12 machines."}
	read.Hash = topicqueue.TextHash(read.Text)
	named := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Unread", URL: "https://hits.example.org/articles/2024/checkpoints-explained"}
	for _, s := range []*topicqueue.Source{&read, &named} {
		s.ID = topicqueue.SourceID(*s)
	}
	blank := read
	blank.Text = "" // it lies in storage
	const (
		right    = "The tests of 2024 ran for [77 hours](http://DATA.example.org/tests/numbers?utm_source=x) on 12 machines."
		wrong    = "The tests of 2024 ran for [79 hours](https://data.example.org/tests/numbers) on 12 machines."
		unread   = "Checkpoints of 2023 took 55 seconds (https://hits.example.org/articles/2024/checkpoints-exp...)."
		invented = "Checkpoints of 2022 took 66 seconds ([source](https://nowhere.example.org/x))."
		claimed  = "Recovery of a log of 16 MB took 0.4 seconds, as [others](https://hits.example.org/articles/2024/checkpoints-explained) confirm."
	)
	in := evidence(t, "")
	in.Returned = []topicqueue.Returned{{ToolID: "block_1/1.1", ToolType: "web_search", Query: "q", Sources: []topicqueue.Source{blank, named}}}
	model := logModel(strings.Join([]string{rightLog, right, wrong, unread, invented, claimed}, "\n\n"))
	r := &reporting.Reporter{Model: model, Page: func(_ context.Context, _, hash string) (string, error) {
		if hash == read.Hash {
			return read.Text, nil
		}
		return "", errors.New("there is no such page")
	}}
	got, err := r.Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for beginning, want := range map[string]struct {
		verdict support.Result
		cited   string
		action  string
	}{
		"The tests of 2024 ran for [77":                   {support.Supported, read.ID, checking.ActionKept},
		"The tests of 2024 ran for [79":                   {support.Unsupported, read.ID, checking.ActionMarked},
		"Checkpoints of 2023 took 55":                     {support.Unverified, named.ID, checking.ActionKept},
		"Recovery of a log of 16 MB took 0.4 seconds, as": {support.Unverified, named.ID, checking.ActionKept},
	} {
		if s := find(t, got, beginning); s.Verdict != want.verdict || s.Action != want.action || len(s.Citations) != 1 || s.Citations[0] != want.cited {
			t.Errorf("%s: %+v", beginning, s)
		}
	}
	if !strings.Contains(got.Markdown, named.URL) || strings.Contains(got.Markdown, "checkpoints-exp...") || strings.Contains(got.Markdown, "nowhere.example.org") {
		t.Errorf("the links are not resolved:\n%s", got.Markdown)
	}
	levels := map[string]string{}
	for _, l := range got.Verification.Links {
		levels[l.URL] = l.Match + " " + l.Address
	}
	for url, want := range map[string]string{
		"http://DATA.example.org/tests/numbers?utm_source=x":        citation.MatchExact + " " + read.URL,
		"https://hits.example.org/articles/2024/checkpoints-exp...": citation.MatchTruncation + " " + named.URL,
	} {
		if levels[url] != want {
			t.Errorf("%s: %q, want %q (%v)", url, levels[url], want, levels)
		}
	}
	gone := false
	for _, x := range got.Removed {
		gone = gone || x.Marker == "https://nowhere.example.org/x" && x.Reason == citation.ReasonUnknownURL
	}
	if !gone || got.Verification.Counts.SourcesUnread > 0 {
		t.Errorf("removed %v, unread %d", got.Removed, got.Verification.Counts.SourcesUnread)
	}
	registry := in.Registry()
	sources := []support.Source{checking.SupportSource(read, read.Text), checking.SupportSource(named, "")}
	for _, tr := range in.Traces() {
		sources = append(sources, checking.SupportSource(tr.Source, tr.Source.Text))
	}
	if bad, _ := got.Verification.Recheck(sources, in.SourceOf(registry)); len(bad) > 0 {
		t.Errorf("not found again: %v", bad)
	}
}

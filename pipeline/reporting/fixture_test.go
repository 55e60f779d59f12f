package reporting_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// corpus is a small manual of an invented database, one text for each section.
var corpus = []topicqueue.Source{
	passage("durability.html", "Durability Guide", []string{"1. The write-ahead log"}, "wal", 0, `
The write-ahead log is a file to which every change is appended before the data pages are altered. A transaction counts
as committed when its last record has reached the disk. After a crash the server reads the log from the last checkpoint
and applies every record again. Recovery of a log of 16 MB took 0.4 seconds in the tests of version 3.2.`),
	passage("durability.html", "Durability Guide", []string{"2. Checkpoints"}, "checkpoints", 900, `
A checkpoint writes all changed pages to the data files and marks the place in the log from which recovery starts. The
setting checkpoint_interval defaults to 300 seconds. Shorter intervals make recovery faster but cause more writes.
Setting it below 30 seconds is not recommended.`),
	passage("durability.html", "Durability Guide", []string{"3. Power loss"}, "power", 1800, `
Disks with a volatile cache can lose the last committed transactions when the power fails. The option
sync_method = *full* makes the server wait until the drive confirms the write [7]. Throughput dropped by 38% with it.`),
	passage("replication.html", "Replication", []string{"Standby servers"}, "standby", 0, `
A standby server receives the log records of the primary over the network and applies them at once. With synchronous
replication a commit waits until one standby has confirmed it. Asynchronous replication can lose the transactions of the
last moments when the primary fails.`),
	passage("replication.html", "Replication", []string{"Failover"}, "failover", 800, `
Failover promotes a standby server to primary. The server never promotes itself: an operator or an outside program has
to decide. A former primary must be rebuilt with the tool rewind before it may join again.`),
	{
		Kind: topicqueue.SourceWeb, Title: "Field report: a failed disk | Example Blog", URL: "https://blog.example.org/failed-disk", Date: "2025-02-11",
		Text: "Our primary lost its disk on a Sunday night. The synchronous standby had every committed transaction, and the switch took four minutes. We had tested restores only once a year, which was too seldom.",
	},
}

func passage(document, title string, section []string, anchor string, offset int, text string) topicqueue.Source {
	return topicqueue.Source{
		Kind: topicqueue.SourceDocument, Title: title, Document: document, Section: section, Anchor: anchor, Offset: offset,
		Text: strings.TrimSpace(text), Date: "2024-06-01",
	}
}

// found makes a trace in which these quotes of a source are claims that say just that.
func found(t testing.TB, id, query string, source int, quotes ...string) topicqueue.ToolTrace {
	t.Helper()
	s := corpus[source]
	s.Hash = topicqueue.TextHash(s.Text)
	s.ID = topicqueue.SourceID(s)
	tool := "rag_hybrid"
	if s.Kind == topicqueue.SourceWeb {
		tool = "web_search"
	}
	trace := topicqueue.ToolTrace{ToolID: "block_1/1.1", CitationID: id, ToolType: tool, Query: query, Source: s}
	for i, q := range quotes {
		folded := strings.Join(strings.Fields(s.Text), " ")
		if !strings.Contains(folded, q) {
			t.Fatalf("%s: %q does not stand in %q", id, q, folded)
		}
		start := strings.Index(s.Text, strings.Fields(q)[0]+" "+strings.Fields(q)[1])
		if start < 0 {
			start = 0
		}
		trace.Claims = append(trace.Claims, topicqueue.Claim{
			ID: fmt.Sprintf("%s.%d", id, i+1), CitationID: id, SourceID: s.ID, Text: q, Quote: q, Start: start, End: start + len(q),
		})
	}
	return trace
}

// evidence is a run with two blocks that found the same, one that failed and one that found nothing.
func evidence(t testing.TB, style string) reporting.Input {
	t.Helper()
	block := func(n int, title string, status topicqueue.BlockStatus, traces ...topicqueue.ToolTrace) reporting.BlockEvidence {
		return reporting.BlockEvidence{
			Block:  topicqueue.Block{ID: topicqueue.BlockID(n), Title: title, Overview: "What is known of it.", Status: status},
			Traces: traces,
		}
	}
	failed := block(5, "Costs of storage", topicqueue.BlockFailed)
	failed.Block.Reason = "the search server refused every call"
	return reporting.Input{
		Run: topicqueue.Run{
			ID: "research_20250601_220000_abcdefghij", Topic: "How does the database keep committed data when a server fails?",
			Options: topicqueue.Options{Language: "en", CitationStyle: style},
		},
		Blocks: []reporting.BlockEvidence{
			block(1, "Write-ahead log and recovery", topicqueue.BlockCompleted,
				found(t, "CIT-1-01", "write-ahead log recovery", 0,
					"The write-ahead log is a file to which every change is appended before the data pages are altered.",
					"A transaction counts as committed when its last record has reached the disk.",
					"After a crash the server reads the log from the last checkpoint and applies every record again.",
					"Recovery of a log of 16 MB took 0.4 seconds in the tests of version 3.2."),
				found(t, "CIT-1-02", "write-ahead log recovery", 1,
					"A checkpoint writes all changed pages to the data files and marks the place in the log from which recovery starts.",
					"The setting checkpoint_interval defaults to 300 seconds.",
					"Shorter intervals make recovery faster but cause more writes.")),
			block(2, "Replication to standby servers", topicqueue.BlockCompleted,
				found(t, "CIT-2-01", "standby server replication", 3,
					"A standby server receives the log records of the primary over the network and applies them at once.",
					"With synchronous replication a commit waits until one standby has confirmed it.",
					"Asynchronous replication can lose the transactions of the last moments when the primary fails."),
				found(t, "CIT-2-02", "standby server failover", 4,
					"Failover promotes a standby server to primary.",
					"A former primary must be rebuilt with the tool rewind before it may join again."),
				found(t, "CIT-2-03", "standby server failed disk", 5,
					"The synchronous standby had every committed transaction, and the switch took four minutes.")),
			block(3, "Power loss and disk caches", topicqueue.BlockCompleted,
				found(t, "CIT-3-01", "power loss committed transactions", 2,
					"Disks with a volatile cache can lose the last committed transactions when the power fails.",
					"The option sync_method = *full* makes the server wait until the drive confirms the write [7].",
					"Throughput dropped by 38% with it."),
				found(t, "CIT-3-02", "power loss log", 0, "A transaction counts as committed when its last record has reached the disk.")),
			block(4, "Standby servers and replication", topicqueue.BlockCompleted,
				found(t, "CIT-4-01", "replication standby", 3,
					"With synchronous replication a commit waits until one standby has confirmed it.")),
			failed,
			block(6, "Backups", topicqueue.BlockCompleted),
		},
	}
}

// modelFunc is a model that answers by itself.
type modelFunc func(req llm.Request) (string, error)

func (f modelFunc) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, context.Cause(ctx)
	}
	text, err := f(req)
	return llm.Response{Text: text}, err
}

// now is the clock of the tests.
func now() time.Time { return time.Date(2025, 6, 2, 3, 0, 0, 0, time.UTC) }

// sourceText returns the text behind a citation id, and all texts behind a number.
func sourceText(in reporting.Input) func(string) string {
	return func(id string) string {
		var b strings.Builder
		for _, block := range in.Blocks {
			for _, trace := range block.Traces {
				if trace.CitationID == id || !strings.Contains(id, "-") {
					b.WriteString(trace.Source.Text + "\n")
				}
			}
		}
		return b.String()
	}
}

// authored answers a question for parts with the text of each by its title: opening, conclusion, or that of a section.
func authored(req llm.Request, text func(title string) string) string {
	return llmtest.Parts(req.Prompt.User, func(_ int, title string) string { return text(title) })
}

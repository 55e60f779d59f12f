package tools_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// base returns a knowledge base with two documents.
func base(t *testing.T) *knowledge.Base {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cache.md": "# Cache\n\n## Eviction\n\nThe cache evicts the entry that was used least recently.\n\n**Table 2.** Limits of the cache.\n",
		"disk.md":  "# Disk\n\nEviction of pages from memory costs time on disk.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := knowledge.Create(filepath.Join(t.TempDir(), "base.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// conformance is the test of one tool. A new tool needs one more line in TestTools.
type conformance struct {
	tool    tools.Tool
	query   string // finds something
	nothing string // finds nothing
}

func TestTools(t *testing.T) {
	t.Parallel()
	b := base(t)
	for _, c := range []conformance{
		{tools.NewRAGHybrid(b, 5), "How does eviction work?", "zebra crossing"},
		{tools.NewRAGNaive(b, 5), "entry used least recently", "zebra crossing"},
		{tools.NewQueryItem(b, 5), "Table 2", "Table 3"},
	} {
		t.Run(c.tool.Name(), func(t *testing.T) {
			t.Parallel()
			c.exercise(t)
		})
	}
}

func (c conformance) exercise(t *testing.T) {
	if !regexp.MustCompile(`^[a-z][a-z_]*$`).MatchString(c.tool.Name()) {
		t.Errorf("name %q", c.tool.Name())
	}
	if d := c.tool.Description(); len(d) < 80 || len(d) > 1000 || !strings.Contains(d, "Query:") || strings.TrimSpace(d) != d {
		t.Errorf("description: %q", d)
	}

	result, err := c.tool.Call(t.Context(), tools.Call{ToolID: "block_1/1.1", Query: c.query})
	if err != nil || result.Failed || len(result.Sources) == 0 {
		t.Fatalf("%q: %+v, %v", c.query, result, err)
	}
	seen := map[string]bool{}
	for _, s := range result.Sources {
		if s.Kind == "" || s.Title == "" || s.URL == "" && s.Document == "" || s.Text == "" || s.RetrievedAt.IsZero() {
			t.Errorf("source lacks a field: %+v", s)
		}
		if s.Hash != topicqueue.TextHash(s.Text) || s.ID != topicqueue.SourceID(s) || seen[s.ID] {
			t.Errorf("source %s: hash %s", s.ID, s.Hash)
		}
		seen[s.ID] = true
		if !strings.Contains(result.Text, s.Text) {
			t.Errorf("the answer lacks the text of %s", s.ID)
		}
	}
	if !utf8.ValidString(result.Text) || !strings.HasPrefix(result.Text, "[1] ") {
		t.Errorf("text: %q", result.Text)
	}
	again, err := c.tool.Call(t.Context(), tools.Call{Query: c.query})
	if err != nil || again.Text != result.Text {
		t.Errorf("a second call answers otherwise: %q, %v", again.Text, err)
	}

	result, err = c.tool.Call(t.Context(), tools.Call{Query: c.nothing})
	if err != nil || result.Failed || len(result.Sources) != 0 || !strings.Contains(result.Text, c.nothing) {
		t.Errorf("%q: %+v, %v", c.nothing, result, err)
	}
	for _, query := range []string{"", " \n"} {
		if result, err = c.tool.Call(t.Context(), tools.Call{Query: query}); err != nil || !result.Failed || result.Text == "" {
			t.Errorf("no query: %+v, %v", result, err)
		}
	}
	for _, query := range []string{`" OR (`, "\x00\xff", strings.Repeat("long ", 10_000)} {
		if result, err = c.tool.Call(t.Context(), tools.Call{Query: query}); err != nil || result.Failed {
			t.Errorf("%.20q: %+v, %v", query, result, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the desk closes")
	cancel(why)
	if _, err = c.tool.Call(ctx, tools.Call{Query: c.query}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestPassageHead(t *testing.T) {
	t.Parallel()
	result, err := tools.NewRAGNaive(base(t), 5).Call(t.Context(), tools.Call{Query: "entry used least recently"})
	if err != nil {
		t.Fatal(err)
	}
	want := "[1] Cache > Eviction (cache.md)\nThe cache evicts the entry that was used least recently.\n\nTable 2. Limits of the cache."
	if result.Text != want {
		t.Errorf("got %q, want %q", result.Text, want)
	}
}

// TestBaseBreaks: a missing knowledge base fails the call, not the run.
func TestBaseBreaks(t *testing.T) {
	t.Parallel()
	b := base(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	result, err := tools.NewRAGHybrid(b, 5).Call(t.Context(), tools.Call{Query: "cache"})
	if err != nil || !result.Failed || !strings.Contains(result.Text, "rag_hybrid") {
		t.Errorf("%+v, %v", result, err)
	}
}

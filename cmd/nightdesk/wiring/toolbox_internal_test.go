package wiring

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// The settings and the package of the tools know the same built-in tools.
func TestBuiltInToolNames(t *testing.T) {
	t.Parallel()
	settings, known := config.BuiltInToolNames(), tools.BuiltInNames()
	slices.Sort(settings)
	slices.Sort(known)
	if !slices.Equal(settings, known) {
		t.Errorf("config: %v, tools: %v", settings, known)
	}
}

// A worker gives a run the tools that it has, in the order of the run, and logs those that must be set up.
func TestToolboxOfAWorker(t *testing.T) {
	t.Parallel()
	box := toolbox{own: &OwnTools{}, common: tools.Set{tools.NewOpenPage(nil), tools.NewPaperSearch(nil, 1)}}
	run := topicqueue.Run{State: topicqueue.RunResearching, Options: topicqueue.Options{
		Tools: []string{"rag_hybrid", "web_search", "paper_search", "open_page", "prices", "run_code"}}}
	var log bytes.Buffer
	has, err := box.of(zerolog.New(&log).WithContext(t.Context()), run)
	if names := has.Tools.Names(); err != nil || !slices.Equal(names, []string{"paper_search", "open_page"}) {
		t.Errorf("a block has %v, %v", names, err)
	}
	for _, want := range []string{"no search engine", `"tool":"prices"`, "update this worker"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in %s", want, log.String())
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 {
		t.Errorf("%d messages: %s", lines, log.String())
	}
}

package planning_test

import (
	"context"
	"sync/atomic"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// webTool is a search of the web.
type webTool func(query string) []topicqueue.Source

func (webTool) Name() string        { return "web_search" }
func (webTool) Description() string { return "searches the web" }
func (w webTool) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	return tools.Result{Text: "found", Sources: w(c.Query)}, nil
}

// Without a knowledge base the background comes from the web.
func TestPlan_BackgroundFromTheWeb(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	search := webTool(func(string) []topicqueue.Source {
		asked.Add(1)
		return []topicqueue.Source{
			{ID: "src_ice", Kind: topicqueue.SourceWeb, Title: "Ice on the coil", URL: "https://a.example/ice", Text: "Tides of ice form on the coil."},
		}
	})
	d := newDesk(t)
	d.p.Runner = &tools.Runner{Tools: tools.Set{search}, Pages: noPages{}}
	d.run.Options.Tools = []string{"web_search"}
	plan, err := d.p.Plan(t.Context(), d.run)
	if err != nil || len(plan.Traces) != 1 || plan.Traces[0].ToolType != "web_search" || asked.Load() == 0 {
		t.Fatalf("%+v, %v, asked %d times", plan, err, asked.Load())
	}
}

package planning_test

import (
	"context"
	"testing"

	"nightdesk/pipeline/planning"
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

// Without a knowledge base the background comes from the web, and no sub-topic begins with a place: of a page that a search
// has found no section can be read as a whole.
func TestPlan_BackgroundFromTheWeb(t *testing.T) {
	t.Parallel()
	page := func(name, title, text string) topicqueue.Source {
		return topicqueue.Source{ID: "src_" + name, Kind: topicqueue.SourceWeb, Title: title, URL: "https://a.example/" + name, Text: text}
	}
	asked := 0
	search := webTool(func(string) []topicqueue.Source {
		asked++
		return []topicqueue.Source{
			page("ice", "Ice on the coil", "Ice forms on the outdoor coil of heat pumps in winter when moist air cools below its dew point."),
			page("ratio", "The ratio of heat", "The ratio of heat to electricity of heat pumps falls in winter from four to two."),
		}
	})
	p := planning.Planner{Runner: &tools.Runner{Tools: tools.Set{search}, Pages: noPages{}}}
	for _, n := range []int{1, 2} {
		plan, err := p.Plan(t.Context(), topicqueue.Run{ID: "r", Topic: "How do heat pumps work in winter?", Options: topicqueue.Options{
			DecomposeMode: "manual", SubTopics: n, Tools: []string{"web_search"}}})
		if err != nil || len(plan.Traces) != 2 || plan.Traces[0].ToolType != "web_search" || len(plan.SubTopics) != n {
			t.Fatalf("%+v, %v", plan, err)
		}
		for _, s := range plan.SubTopics {
			for _, q := range s.Queries {
				if topicqueue.IsPlace(q) {
					t.Errorf("%q asks for the place %q", s.Title, q)
				}
			}
		}
	}
	if asked != 2 {
		t.Errorf("the web was asked %d times for 2 plans", asked)
	}
}

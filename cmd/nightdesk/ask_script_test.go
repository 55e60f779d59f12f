package main_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/topicqueue"
)

// checkFollowed checks the questions that a question about a run knows of: followed RUN QUESTION EARLIER...
func checkFollowed(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("nightdesk", "list", "--search", args[1], "--json"))
	var listed struct {
		ID string `json:"run_id"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &listed))
	var run topicqueue.Run
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("nightdesk-data/cache/"+listed.ID+"/config.json")), &run))
	var earlier []string
	for _, f := range run.Options.Earlier {
		earlier = append(earlier, f.Question)
		if f.Answer == "" || strings.Contains(f.Answer, "[CIT") || strings.Contains(f.Answer, "References") {
			ts.Fatalf("the answer to %s is %q", f.Question, f.Answer)
		}
	}
	if run.Options.Follows != args[0] || !slices.Equal(earlier, args[2:]) {
		ts.Fatalf("it follows %s after %q", run.Options.Follows, earlier)
	}
}

package eventtest_test

import (
	"strings"
	"testing"

	"nightdesk/topicqueue/eventtest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const message = `{"seq":1,"time":"2026-03-01T21:04:11.480Z","run_id":"r","attempt":1,"placement":` +
		`{"wave":0,"lane":0,"step":0,"call":0},"status":"pipeline_step","content":` +
		`{"type":"pipeline_step","step_key":"start_author","info":""}}`
	if typ, key, err := eventtest.Parse([]byte(message)); typ != "pipeline_step" || key != "start_author" || err != nil {
		t.Errorf("%q, %q, %v", typ, key, err)
	}
	for _, tc := range []struct{ name, old, new, want string }{
		{"no type", `"type":"pipeline_step",`, ``, "the type of the content"},
		{"another type", `"type":"pipeline_step"`, `"type":"wait"`, `type "wait" in a message of status "pipeline_step"`},
		{"an invented type", `"type":"pipeline_step"`, `"type":"step"`, `unknown status or type: "step"`},
		{"an invented step", `start_author`, `start_writing`, `"start_writing" is none of`},
		{"a field is missing", `,"info":""`, ``, "no field info"},
		{"a field too many", `"info":""`, `"info":"","tool":1`, "unknown field tool"},
		{"null", `"info":""`, `"info":null`, "field info: value is null"},
		{"a number for a text", `"info":""`, `"info":1`, "field info: "},
		{"a text for content", `{"type":"pipeline_step","step_key":"start_author","info":""}`, `"x"`, "field content: "},
		{"a placement without a lane", `"lane":0,`, ``, "field placement: no field lane"},
		{"no number", `"seq":1,`, ``, "no field seq"},
		{"no time", `2026-03-01`, `yesterday`, "field time: "},
		{"a field beside content", `"attempt":1`, `"attempt":1,"role":"x"`, "unknown field role"},
		{"broken", `}}`, `}`, "unexpected end of JSON"},
	} {
		_, _, err := eventtest.Parse([]byte(strings.Replace(message, tc.old, tc.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

package eventtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The client below is based only on the manual's page "watching", and is as strict as a client generated from it.
// Every field named there must exist with its kind, and no other field may. It uses none of topicqueue's types, so
// changes there cannot change it.

// field is one field of an object.
type field struct {
	name  string
	check func(json.RawMessage) error
	may   bool // optional
}

var envelope = []field{
	{name: "seq", check: kind[int64]}, {name: "time", check: kind[time.Time]}, {name: "run_id", check: kind[string]},
	{name: "block_id", check: kind[string], may: true}, {name: "attempt", check: kind[int]},
	{name: "placement", check: object([]field{{name: "wave", check: kind[int]}, {name: "lane", check: kind[int]},
		{name: "step", check: kind[int]}, {name: "call", check: kind[int]}})},
	{name: "status", check: kind[string]}, {name: "content", check: kind[map[string]json.RawMessage]},
	{name: "metadata", check: kind[map[string]json.RawMessage], may: true},
}

// contents lists the fields of a content by its type.
var contents = map[string][]field{
	"pipeline_step":      {{name: "step_key", check: oneOf(stepKeys...)}, {name: "info", check: kind[string]}},
	"ir_progress":        {{name: "processed_tasks", check: kind[int]}, {name: "total_task", check: kind[int]}},
	"research_questions": {{name: "questions", check: kind[[]string]}},
	"thought_status":     {{name: "question_id", check: kind[int]}, {name: "thought", check: kind[string]}},
	"reference":          {{name: "question_id", check: kind[int]}, {name: "references", check: kind[map[string]string]}},
	"ir_question_done": {{name: "question_id", check: kind[int]}, {name: "status", check: oneOf("done", "failed")},
		{name: "message", check: kind[string], may: true}},
	"summary_statistics": {{name: "used_time", check: kind[float64]}, {name: "website_num", check: kind[int]}},

	"wait":   {{name: "question", check: kind[string]}},
	"report": {{name: "report", check: kind[string]}, {name: "title", check: kind[string]}},
	"html":   {{name: "file", check: kind[string]}},
	"docx":   {{name: "file", check: kind[string]}},
	"audio":  {{name: "file", check: kind[string]}},
	"complete": {{name: "state", check: oneOf("completed", "partial", "failed", "cancelled")},
		{name: "reason", check: kind[string]}},
	"delta": {{name: "step", check: kind[string]}, {name: "answer", check: kind[string]},
		{name: "text", check: kind[string]}, {name: "done", check: kind[bool]}},
	"gap": {{name: "from", check: kind[int64]}, {name: "to", check: kind[int64]}},
}

var stepKeys = []string{
	"start_follow_up", "end_follow_up_pos", "end_follow_up_neg", "fail_clarification",
	"start_query_rewriter", "end_query_rewriter", "end_query_rewriter_no_feedback",
	"start_search_background", "end_search_background", "fail_search_background",
	"start_research_planner", "end_research_planner", "fail_research_planner",
	"start_iterative_research", "iterative_research_task_failed", "iterative_research_pipeline_aborted",
	"start_author", "end_author", "fail_author",
	"start_render_report", "end_render_report", "fail_partial_render_report", "fail_all_render_report",
	"start_audio", "end_audio", "fail_audio",
}

// Parse reads one message, a line of `nightdesk watch --json`. It returns the message's type and, for a
// pipeline_step, the step key. The error is what a strict client would reject.
func Parse(line []byte) (typ, stepKey string, err error) {
	var message struct {
		Status  string                     `json:"status"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := object(envelope)(line); err != nil {
		return "", "", err
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return "", "", err
	}
	if err := json.Unmarshal(message.Content["type"], &typ); err != nil {
		return "", "", fmt.Errorf("the type of the content: %w", err)
	}
	fields, known := contents[typ]
	switch {
	case !known:
		return "", "", fmt.Errorf("unknown status or type: %q", typ)
	case typ != message.Status:
		return "", "", fmt.Errorf("content of type %q in a message of status %q", typ, message.Status)
	}
	delete(message.Content, "type")
	if err := checkFields(message.Content, fields); err != nil {
		return "", "", fmt.Errorf("content of type %q: %w", typ, err)
	}
	_ = json.Unmarshal(message.Content["step_key"], &stepKey) // other types have no step key
	return typ, stepKey, nil
}

// Names returns all types and step keys that a stream can contain, sorted.
func Names() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(contents)), stepKeys)))
}

// Vocabulary returns every name that the client expects in messages: Names and all fields. It is for a test of the
// manual page.
func Vocabulary() []string {
	names := Names()
	for _, fields := range append(slices.Collect(maps.Values(contents)), envelope) {
		for _, f := range fields {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkFields returns an error for the first field that is missing, of another kind, or unknown.
func checkFields(have map[string]json.RawMessage, fields []field) error {
	for _, f := range fields {
		value, ok := have[f.name]
		if !ok && !f.may {
			return fmt.Errorf("no field %s", f.name)
		}
		if !ok {
			continue
		}
		if err := f.check(value); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	for name := range have {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return fmt.Errorf("unknown field %s", name)
		}
	}
	return nil
}

// object returns a check for an object with these fields.
func object(fields []field) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var have map[string]json.RawMessage
		if err := json.Unmarshal(raw, &have); err != nil {
			return err
		}
		return checkFields(have, fields)
	}
}

// kind checks that a value decodes to a Go type and is not null.
func kind[T any](raw json.RawMessage) error {
	var v *T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if v == nil {
		return errors.New("value is null")
	}
	return nil
}

// oneOf returns a check for a string from this list.
func oneOf(allowed ...string) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var v string
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(allowed, ", "))
		}
		return nil
	}
}

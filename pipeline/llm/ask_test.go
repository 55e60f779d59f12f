package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
)

func TestAskOverEveryTransport(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		refuse []string
		want   llm.Transport
		calls  int // of the first question; the second takes one
	}{
		{"json schema", nil, llm.TransportSchema, 1},
		{"tool", []string{"response_format"}, llm.TransportTool, 2},
		{"prompt", []string{"response_format", "tools"}, llm.TransportPrompt, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stub := &llmtest.Stub{Refuse: tc.refuse}
			c := setup(t, stub, nil)
			for _, want := range []int{tc.calls, tc.calls + 1} {
				got, err := llm.Ask[card](t.Context(), c, structured())
				if err != nil || got.Title == "" || len(got.Tags) == 0 || stub.Stats().Calls != want {
					t.Errorf("%+v, %v, %d calls, want %d", got, err, stub.Stats().Calls, want)
				}
			}
			transport, took, err := c.Probe(t.Context(), llm.Researcher)
			if err != nil || transport != tc.want || took <= 0 {
				t.Errorf("probe: %s %s %v", transport, took, err)
			}
		})
	}
}

func TestAskRefusalStatuses(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"404": {404, ""}, "415": {415, ""}, "422": {422, `{"detail":[{"loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}`}, "501": {501, ""},
		"500 that names it": {500, `{"error":{"message":"failed to parse grammar"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				if q.Transport == "prompt" {
					return false
				}
				w.WriteHeader(answer.status)
				_, _ = io.WriteString(w, answer.body)
				return true
			}}
			if _, err := llm.Ask[card](t.Context(), setup(t, stub, nil), structured()); err != nil || stub.Stats().Calls != 3 {
				t.Errorf("%v after %d calls", err, stub.Stats().Calls)
			}
		})
	}
}

// A transport that has worked once is kept even if the server rejects one schema.
func TestOneRefusedSchemaDoesNotChangeTheTransport(t *testing.T) {
	t.Parallel()
	var transports []string
	stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
		transports = append(transports, q.Transport)
		if q.Name != "odd" || q.Transport != "json_schema" {
			return false
		}
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"Invalid schema for response_format"}}`)
		return true
	}}
	c := setup(t, stub, nil)
	for _, name := range []string{"card", "odd", "card"} {
		req := structured()
		req.Prompt.Name = name
		if _, err := llm.Ask[card](t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"json_schema", "json_schema", "tool", "json_schema"}, transports); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentFirstQuestionsAllSucceed(t *testing.T) {
	t.Parallel()
	stub := &llmtest.Stub{Refuse: []string{"response_format", "tools", "temperature", "max_tokens"}, Latency: time.Millisecond}
	c := setup(t, stub, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := llm.Ask[card](t.Context(), c, structured()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	before := stub.Stats().Calls
	if _, err := llm.Ask[card](t.Context(), c, structured()); err != nil || stub.Stats().Calls != before+1 {
		t.Errorf("%v, %d calls after %d", err, stub.Stats().Calls, before)
	}
}

func TestThinkFieldComesFirstAndIsRemoved(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reasoning, asked, want bool }{
		{false, true, true}, {true, true, false}, {false, false, false},
	} {
		var seen llmtest.Question
		stub := &llmtest.Stub{Intercept: func(_ http.ResponseWriter, q llmtest.Question) bool { seen = q; return false }}
		c := setup(t, stub, func(s *llm.RoleSettings) { s.Reasoning = tc.reasoning })
		req := structured()
		req.Prompt.Think = tc.asked
		got, err := llm.Ask[map[string]any](t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := got["think"]; has {
			t.Errorf("think reached the caller: %v", got)
		}
		first := strings.HasPrefix(string(seen.Schema), `{"type":"object","properties":{"think":{"type":"string"`)
		required := strings.Contains(string(seen.Schema), `"required":["think","title"`)
		told := strings.Contains(seen.System, "think")
		if first != tc.want || required != tc.want || told != tc.want {
			t.Errorf("%+v: schema %s, system %s", tc, seen.Schema, seen.System)
		}
	}
}

func TestAskReasksOnce(t *testing.T) {
	t.Parallel()
	bad := `{"title":"Rain","score":"wet"}`
	script := llmtest.NewScript(t, map[string][]llmtest.Reply{"card": {
		llmtest.Answer(bad),
		{Text: goodCard, Check: func(req llm.Request) {
			if req.Position.Step != "card.reask" || !strings.HasPrefix(req.Prompt.User, "Describe rain.\n\n") || req.Prompt.System != structured().Prompt.System {
				t.Errorf("second question %+v", req)
			}
			for _, want := range []string{bad, "/score", "pages", "done"} {
				if !strings.Contains(req.Prompt.User, want) {
					t.Errorf("second question does not show %s:\n%s", want, req.Prompt.User)
				}
			}
		}},
	}})
	got, err := llm.Ask[card](t.Context(), script, structured())
	if diff := cmp.Diff(card{"Rain", 0.5, 3, true, []string{"a", "b"}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAskGivesUpWithTheErrors(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string][2]string{
		"prose": {"I cannot.", "No " + strings.Repeat("really ", 500)}, "empty": {"", ""}, "wrong": {`{"title":1}`, `{"title":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.NewScript(t, map[string][]llmtest.Reply{"card": {llmtest.Answer(answers[0]), llmtest.Answer(answers[1])}})
			got, err := llm.Ask[card](t.Context(), script, structured())
			var aerr *llm.AnswerError
			if !errors.Is(err, llm.ErrAnswer) || !errors.As(err, &aerr) || aerr.Step != "card" || len(aerr.Errors) == 0 || len(aerr.Text) > 700 {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(card{}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	boom := errors.New("boom")
	script := llmtest.NewScript(t, map[string][]llmtest.Reply{"card": {{Err: boom}}})
	if _, err := llm.Ask[card](t.Context(), script, structured()); !errors.Is(err, boom) {
		t.Error(err)
	}
	req := structured()
	for _, schema := range []string{``, `[]`, `{"type":5}`, `{"$ref":"file:///etc/passwd"}`} {
		req.Prompt.Schema = json.RawMessage(schema)
		if _, err := llm.Ask[card](t.Context(), script, req); !errors.Is(err, llm.ErrPermanent) {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
}

func TestAskTruncated(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(t, map[string][]llmtest.Reply{"card": {
		{Text: `{"title":"Rain","score":0.5,"pages":3,"done":true,"tags":["a","b","unfin`, Truncated: true},
		{Text: `{"title":"Rain","score":0.5,"pages":3,"do`, Truncated: true}, llmtest.Answer(goodCard),
	}})
	for range 2 { // the first is shortened, the second asked again
		got, err := llm.Ask[card](t.Context(), script, structured())
		if diff := cmp.Diff(card{"Rain", 0.5, 3, true, []string{"a", "b"}}, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func TestBrokenEveryOther(t *testing.T) {
	t.Parallel()
	stub := &llmtest.Stub{BreakEvery: 2}
	var records []topicqueue.Usage
	m := llm.Run{Model: setup(t, stub, nil), Journal: counting(&records)}
	for range 10 {
		if _, err := llm.Ask[card](t.Context(), m, structured()); err != nil {
			t.Fatal(err)
		}
	}
	if stats := stub.Stats(); len(records) != stats.Calls || stats.CompletionTokens == 0 {
		t.Errorf("%d records, %+v", len(records), stats)
	}
}

func TestJournalSeesEveryCallOnce(t *testing.T) {
	t.Parallel()
	var records []topicqueue.Usage
	stub := &llmtest.Stub{Busy: 1, RetryAfter: "0.01"}
	if _, err := (llm.Run{Model: setup(t, stub, nil), Journal: counting(&records)}).Generate(t.Context(), free()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (llm.Run{Model: setup(t, stub, nil), Journal: counting(&records)}).Generate(ctx, free()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	script := llmtest.NewScript(t, map[string][]llmtest.Reply{"card": {llmtest.Answer("no"), llmtest.Answer(goodCard)}})
	if _, err := llm.Ask[card](t.Context(), llm.Run{Model: script, Journal: counting(&records)}, structured()); err != nil {
		t.Fatal(err)
	}
	var got [][2]any
	for _, u := range records {
		got = append(got, [2]any{u.Step, u.Failed})
		if u.Timestamp.IsZero() || u.Role != "researcher" || !u.Failed && u.PromptTokens == 0 {
			t.Errorf("record %+v", u)
		}
	}
	want := [][2]any{{"section", false}, {"section", true}, {"card", false}, {"card.reask", false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		cut        bool
		want       string
	}{
		{"plain", " It rains. \n", false, "It rains."},
		{"fence", "```markdown\n# Rain\nIt rains.\n```", false, "# Rain\nIt rains."},
		{"bare fence", "```\nIt rains.\n```\n", false, "It rains."},
		{"fence with code inside", "```markdown\na\n```go\nx\n```\nb\n```", false, "a\n```go\nx\n```\nb"},
		{"code", "```go\nx := 1\n```", false, "```go\nx := 1\n```"},
		{"code first and last", "```\na\n```\ntext\n```\nb\n```", false, "```\na\n```\ntext\n```\nb\n```"},
		{"thinking", "<thinking>Let me see.</thinking>\n\nIt rains.", false, "It rains."},
		{"cut in a sentence", "It rains. The umbrella is 3.5 m wi", true, "It rains."},
		{"cut in a number", "It rains. The umbrella is 3.", true, "It rains."},
		{"cut in a quotation", "He said \"it rains.\" Then he le", true, "He said \"it rains.\""},
		{"cut in a list", "Rain:\n- wet\n- co", true, "Rain:\n- wet"},
		{"cut, Chinese", "下雨了。雨伞有三", true, "下雨了。"},
		{"cut in an open fence", "```markdown\nIt rains. It po", true, "It rains."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.NewScript(t, map[string][]llmtest.Reply{"section": {{Text: tc.text, Truncated: tc.cut}}})
			got, err := llm.Text(t.Context(), script, free())
			if got != tc.want || errors.Is(err, llm.ErrTruncated) != tc.cut || err != nil && !tc.cut {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	for _, second := range []string{"", "It rains."} {
		script := llmtest.NewScript(t, map[string][]llmtest.Reply{"section": {llmtest.Answer("<think>never closed"), llmtest.Answer(second)}})
		got, err := llm.Text(t.Context(), script, free())
		if got != second || errors.Is(err, llm.ErrAnswer) != (second == "") {
			t.Errorf("%q, %v", got, err)
		}
		if calls := script.Calls(); calls[1].Position.Step != "section.reask" {
			t.Errorf("second question %+v", calls[1].Position)
		}
	}
}

func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, strings.Repeat("word", 100): 100, strings.Repeat("雨", 30): 20, "雨 rain": 3, "\xff\xfe\xfd\xfc": 1} {
		if got := llm.EstimateTokens(text); got != want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", text, got, want)
		}
	}
}

package llm_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const testKey = "sk-test-0123456789abcdef"

var cardSchema = json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"score":{"type":"number"},"pages":{"type":"integer"},"done":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}},"required":["title","score","pages","done","tags"],"additionalProperties":false}`)

// card is the answer of cardSchema.
type card struct {
	Title string   `json:"title"`
	Score float64  `json:"score"`
	Pages int      `json:"pages"`
	Done  bool     `json:"done"`
	Tags  []string `json:"tags"`
}

const goodCard = `{"title":"Rain","score":0.5,"pages":3,"done":true,"tags":["a","b"]}`

// structured is a realistic question: a model should think first.
func structured() llm.Request {
	return llm.Request{
		Position: llm.Position{RunID: "r", Stage: "researching", Block: "block_3", Step: "card"},
		Role:     llm.Researcher,
		Prompt:   prompts.Prompt{Name: "card", System: "Answer with JSON.", User: "Describe rain.", Schema: cardSchema, Think: true},
	}
}

func free() llm.Request {
	return llm.Request{
		Position: llm.Position{RunID: "r", Stage: "reporting", Step: "section"},
		Role:     llm.Researcher,
		Prompt:   prompts.Prompt{Name: "section", System: "You write.", User: "Write about rain."},
	}
}

// setup returns a client for handler over a loopback server.
func setup(t *testing.T, handler http.Handler, change func(s *llm.RoleSettings)) *llm.Client {
	t.Helper()
	return connect(t, llmtest.NewServer(t, handler), nil, change)
}

// inMemory returns a client for handler without sockets, for use in a synctest bubble.
func inMemory(t *testing.T, handler http.Handler, change func(s *llm.RoleSettings)) *llm.Client {
	t.Helper()
	return connect(t, "http://model.test/v1", &http.Client{Transport: llmtest.Memory{Handler: handler}}, change)
}

func connect(t *testing.T, url string, client *http.Client, change func(s *llm.RoleSettings)) *llm.Client {
	t.Helper()
	if client == nil {
		base := &http.Transport{}
		t.Cleanup(base.CloseIdleConnections)
		client = &http.Client{Transport: base}
	}
	s := llm.RoleSettings{Model: "test-model", BaseURL: url, APIKey: testKey, Temperature: 0.5, MaxTokens: 1000, Timeout: 10 * time.Second, MaxTries: 3}
	if change != nil {
		change(&s)
	}
	c, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{llm.Researcher: s}, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// always answers every question with this text.
func always(text string) *llmtest.Stub {
	return &llmtest.Stub{Answer: func(llmtest.Question) (string, bool) { return text, true }}
}

// counting is a journal that stores nothing but the usage of each call.
func counting(records *[]topicqueue.Usage) llm.Journal {
	return func(ctx context.Context, _ string, _ topicqueue.Usage,
		ask func(context.Context, int) (llm.Made, error)) ([]byte, error) {
		made, err := ask(ctx, 0)
		if records != nil {
			*records = append(*records, made.Usage)
		}
		return nil, err
	}
}

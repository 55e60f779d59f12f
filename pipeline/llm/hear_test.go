package llm_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

// hearing returns a client whose answers are read along, and the text heard in each try.
func hearing(t *testing.T, handler http.Handler, change func(*llm.RoleSettings)) (*llm.Client, *[]string) {
	t.Helper()
	s := llm.RoleSettings{Model: "test-model", BaseURL: llmtest.NewServer(t, handler), APIKey: testKey, MaxTokens: 1000,
		Timeout: 10 * time.Second, MaxTries: 3}
	change(&s)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	var heard []string
	c, err := llm.NewClient(llm.Settings{
		Roles:      map[llm.Role]llm.RoleSettings{llm.Researcher: s, llm.Judge: s},
		HTTPClient: &http.Client{Transport: base},
		Hear: func(_ context.Context, at llm.Position) func(string) {
			if at.RunID == "unwatched" {
				return nil
			}
			heard = append(heard, "")
			return func(piece string) { heard[len(heard)-1] += piece }
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, &heard
}

// An answer that is read along equals one that arrives whole, including usage.
func TestHear(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, _ llm.Provider, with func(*llm.RoleSettings)) {
		say := "<think>hm</think>\nIt rains, and ärgerlich 雨 it is."
		streamed := 0
		stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			if string(q.Fields["stream"]) == "true" {
				streamed++
			}
			if q.Schema != nil {
				return goodCard, true
			}
			return say, true
		}}
		c, heard := hearing(t, stub, with)
		unwatched := free()
		unwatched.Position.RunID = "unwatched"
		whole, err := c.Generate(t.Context(), unwatched)
		if err != nil || streamed != 0 {
			t.Fatalf("%d streamed, %v", streamed, err)
		}
		got, err := c.Generate(t.Context(), free())
		got.Usage.TookMS, got.Usage.Timestamp = whole.Usage.TookMS, whole.Usage.Timestamp
		same := got.Text == whole.Text && got.Usage == whole.Usage
		if err != nil || !same || streamed != 1 || got.Usage.Estimated {
			t.Fatalf("%+v instead of %+v, %d streamed, %v", got, whole, streamed, err)
		}
		if want := "It rains, and ärgerlich 雨 it is."; len(*heard) != 1 || (*heard)[0] != want {
			t.Errorf("heard %q", *heard)
		}
		answer, err := llm.Ask[card](t.Context(), c, structured())
		if err != nil || answer.Title != "Rain" || len(answer.Tags) != 2 || (*heard)[1] != "Rain\na\nb\n" {
			t.Errorf("%+v, heard %q, %v", answer, *heard, err)
		}
		judge := free()
		judge.Role = llm.Judge
		if _, err := c.Generate(t.Context(), judge); err != nil || len(*heard) != 2 {
			t.Errorf("the judge is heard: %q, %v", *heard, err)
		}
	})
}

// A server that refuses streaming is asked without it from then on.
func TestHearRefused(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"stream", "stream_options"} {
		stub := &llmtest.Stub{Refuse: []string{field}}
		c, heard := hearing(t, stub, func(*llm.RoleSettings) {})
		for range 2 {
			if _, err := c.Generate(t.Context(), free()); err != nil {
				t.Fatal(err)
			}
		}
		if calls := stub.Stats().Calls; calls != 3 || strings.Join(*heard, "") != "" {
			t.Errorf("%s: %d requests, heard %q", field, calls, *heard)
		}
	}
}

// A truncated, broken or foreign stream is not an answer. The call is retried, and the text starts over.
func TestHearBrokenStreams(t *testing.T) {
	t.Parallel()
	const chunk = `data: {"choices":[{"index":0,"delta":{"content":"It r"}}]}` + "\n\n"
	for name, body := range map[string]string{
		"cut":         chunk,
		"half an end": chunk + `data: {"choices":[{"ind`,
		"broken":      chunk + "data: {broken}\n\n" + chunk,
		"an error":    chunk + `data: {"error":{"message":"overloaded","code":503}}` + "\n\n",
		"a page":      "<html><title>Log in</title>",
		"nothing":     "",
		"comments":    ": wait\n\n: wait\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := &llmtest.Stub{Answer: func(llmtest.Question) (string, bool) { return "It rains.", true }}
			stub.Intercept = func(w http.ResponseWriter, q llmtest.Question) bool {
				if q.Number > 1 {
					return false
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, body)
				return true
			}
			c, heard := hearing(t, stub, func(*llm.RoleSettings) {})
			resp, err := c.Generate(t.Context(), free())
			if err != nil || resp.Text != "It rains." || len(*heard) != 2 || (*heard)[1] != "It rains." {
				t.Errorf("%+v, heard %q, %v", resp, *heard, err)
			}
		})
	}
}

// Servers without streaming answer whole. Some do not report usage.
func TestHearUnstreamed(t *testing.T) {
	t.Parallel()
	bodies := []string{`{"choices":[{"message":{"content":"It rains."},"finish_reason":"stop"}]}`,
		"\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"It rains.\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{}," +
			"\"finish_reason\":\"stop\"}]}"}
	for _, body := range bodies {
		stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
			_, _ = io.WriteString(w, body)
			return true
		}}
		c, _ := hearing(t, stub, func(*llm.RoleSettings) {})
		resp, err := c.Generate(t.Context(), free())
		if err != nil || resp.Text != "It rains." || !resp.Usage.Estimated {
			t.Errorf("%s: %+v, %v", body, resp, err)
		}
	}
}

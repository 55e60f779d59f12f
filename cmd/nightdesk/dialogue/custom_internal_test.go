package dialogue

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue"
)

// A question goes to a URL or a command as JSON, and what comes back is the answer; what goes wrong names no address.
func TestCustomAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/echo":
			_, _ = w.Write(body)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
		case "/hangs":
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	const asked = `{"question":"Which?"}`
	for name, tt := range map[string]struct {
		ask           func(context.Context, string, []byte) (string, error)
		input         string
		want, problem string
	}{
		"a URL":                {post, server.URL + "/echo", asked, ""},
		"a long response":      {post, server.URL + "/long", strings.Repeat("x", topicqueue.MaxAnswer+1), ""},
		"a status":             {post, server.URL + "/no", "", "it answered with status 403"},
		"nobody listens":       {post, "http://127.0.0.1:1/secret", "", "connection refused"},
		"no URL":               {post, "http://[/secret", "", "it is no URL"},
		"a URL that hangs":     {post, server.URL + "/hangs", "", "its time was used up"},
		"a command":            {runCommandForAnswer, "cat", asked, ""},
		"a command that fails": {runCommandForAnswer, "echo no >&2; exit 4", "", "exit status 4: no"},
		"a command that hangs": {runCommandForAnswer, "sleep 60 & wait", "", "its time was used up"},
		"a command that chats": {runCommandForAnswer, "head -c 1000000 /dev/zero | tr '\\0' x", strings.Repeat("x",
			topicqueue.MaxAnswer+1), ""},
		"a command that's deaf": {runCommandForAnswer, "exec <&-; echo yes", "yes\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute
			if strings.Contains(name, "hangs") {
				patience = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			got, err := tt.ask(ctx, tt.input, []byte(asked))
			if tt.problem == "" && (err != nil || got != tt.want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem) ||
				strings.Contains(err.Error(), "secret")) {
				t.Errorf("%v, want %q", err, tt.problem)
			}
		})
	}
}

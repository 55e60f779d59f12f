package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
)

// soundOf is the answer of a speech server, which only needs to pass the check.
const soundOf = "RIFF sound"

func speaker(t *testing.T, handler http.HandlerFunc, change func(*llm.SpeakerSettings)) *llm.Speaker {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // all of it, so that the server notices when the client goes
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	settings := llm.SpeakerSettings{Model: "tts", BaseURL: server.URL + "/v1/audio/speech", APIKey: "sk-secret-key",
		MaxTries: 3, Timeout: time.Minute, HTTPClient: server.Client(), Check: func(wav []byte) error {
			if !strings.HasPrefix(string(wav), "RIFF") {
				return errors.New("not a WAV file")
			}
			return nil
		}}
	if change != nil {
		change(&settings)
	}
	s, err := llm.NewSpeaker(settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSpeaker(t *testing.T) {
	t.Parallel()
	var asked map[string]string
	s := speaker(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/audio/speech" || r.Header.Get("Authorization") != "Bearer sk-secret-key" {
			t.Errorf("%s, %q", r.URL, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write([]byte(soundOf))
	}, nil)
	wav, err := s.Speak(t.Context(), "alloy", "Good night.")
	if err != nil || string(wav) != soundOf {
		t.Fatalf("%q, %v", wav, err)
	}
	want := map[string]string{"model": "tts", "voice": "alloy", "input": "Good night.", "response_format": "wav"}
	for name, value := range want {
		if asked[name] != value || len(asked) != len(want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
	}
	if u := s.Usage("Good night."); u.Model != "tts" || u.PromptTokens == 0 || !u.Estimated {
		t.Errorf("%+v", u)
	}
}

// hanging counts requests and answers none.
type hanging struct{ asked *atomic.Int32 }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestSpeakerTroubles: each failure of a server has a defined outcome after a limited number of tries.
func TestSpeakerTroubles(t *testing.T) {
	t.Parallel()
	answer := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		says    string
		class   error
		tries   int32
	}{
		"a page": {answer("text/html; charset=utf-8", "<!DOCTYPE html><title>Log in</title>"),
			"login page of the network, or a wrong base URL", llm.ErrUnavailable, 3},
		"JSON":            {answer("application/json", `{"url":"x"}`), "not with speech as WAV", llm.ErrUnavailable, 3},
		"MP3":             {answer("audio/mpeg", "ID3"), "not a WAV file", llm.ErrUnavailable, 3},
		"another type":    {answer("application/octet-stream", soundOf), "", nil, 1},
		"nothing":         {answer("audio/wav", ""), "an empty body", llm.ErrUnavailable, 3},
		"half of a file":  {half, "unexpected EOF", llm.ErrUnavailable, 3},
		"no such model":   {refuse(http.StatusNotFound), "model's name", llm.ErrPermanent, 1},
		"a wrong key":     {refuse(http.StatusUnauthorized), "check the API key", llm.ErrPermanent, 1},
		"a broken server": {refuse(http.StatusInternalServerError), "answered 500", llm.ErrUnavailable, 3},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example/", http.StatusFound)
		}, "a redirect to login.example", llm.ErrUnavailable, 3},
		"a hanging server": {nil, "no complete answer within", llm.ErrUnavailable, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			s := speaker(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				test.handler(w, r)
			}, func(s *llm.SpeakerSettings) {
				if test.handler == nil {
					s.Timeout, s.HTTPClient = 50*time.Millisecond, &http.Client{Transport: hanging{&tries}}
				}
			})
			wav, err := s.Speak(t.Context(), "alloy", "Good night.")
			if test.class == nil {
				if err != nil || string(wav) != soundOf {
					t.Errorf("%q, %v", wav, err)
				}
				return
			}
			if !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.says) || wav != nil {
				t.Errorf("%q, %v", wav, err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the error has the key: %v", err)
			}
			if n := tries.Load(); n != test.tries {
				t.Errorf("%d tries, want %d", n, test.tries)
			}
		})
	}
}

func refuse(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// half sends less than it announces.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Content-Length", strconv.Itoa(2*len(soundOf)))
	_, _ = w.Write([]byte(soundOf))
}

// A call ends with its context and returns the cause.
func TestSpeakerEnds(t *testing.T) {
	t.Parallel()
	gone := errors.New("the run was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := speaker(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(gone)
		<-r.Context().Done()
	}, nil)
	if _, err := s.Speak(ctx, "alloy", "x"); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

func TestSpeakerSettings(t *testing.T) {
	t.Parallel()
	_, err := llm.NewSpeaker(llm.SpeakerSettings{BaseURL: "nowhere"})
	if err == nil || !strings.Contains(err.Error(), "model name") || !strings.Contains(err.Error(), "base URL") {
		t.Errorf("%v", err)
	}
	for _, test := range []struct{ voices, want []string }{{nil, []string{"alloy", "nova"}},
		{[]string{"a"}, []string{"a", "a"}}, {[]string{"a", "b"}, []string{"a", "b"}}} {
		s := speaker(t, refuse(500), func(s *llm.SpeakerSettings) { s.Voices = test.voices })
		got, err := s.Voices(t.Context(), "en")
		if err != nil || strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%q, want %q (%v)", got, test.want, err)
		}
	}
}

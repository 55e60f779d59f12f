package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/pipeline/narration"
)

// speechServer speaks silence of 10 ms for each byte, and notes what it is asked for.
type speechServer struct {
	mu    sync.Mutex
	asked map[string]int // by voice and text
	total int
	hold  func(n int) // called before the n-th answer
}

func (s *speechServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Voice, Input string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked[q.Voice+": "+q.Input]++
	s.total++
	n := s.total
	s.mu.Unlock()
	if s.hold != nil {
		s.hold(n)
	}
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(narration.Sound{Rate: 8000, Samples: make([]int16, 80*len(q.Input))}.WAV())
}

// startSpeech starts a speech server and points nightdesk to it: speech [broken].
func startSpeech(ts *testscript.TestScript, _ bool, args []string) {
	var handler http.Handler = &speechServer{asked: map[string]int{}}
	if len(args) > 0 {
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>Welcome</title>"))
		})
	}
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	ts.Setenv("SPEECH_MODEL", "tts")
	ts.Setenv("SPEECH_BASE_URL", server.URL+"/v1")
}

// TestKilledNarrator kills a worker while it narrates: another one goes on, and of what was spoken only the pieces that
// were in flight are spoken again.
func TestKilledNarrator(t *testing.T) {
	t.Parallel() // it waits for a lease most of the time
	const spoken, inFlight = 7, 4
	reached, end := make(chan struct{}), make(chan struct{})
	speech := &speechServer{asked: map[string]int{}}
	speech.hold = func(n int) {
		if n == spoken {
			close(reached)
		}
		if n >= spoken {
			<-end
		}
	}
	server := httptest.NewServer(speech)
	t.Cleanup(server.Close)
	f := newFleet(t, time.Millisecond, shortLease, "SPEECH_MODEL=tts", "SPEECH_BASE_URL="+server.URL+"/v1",
		"SPEECH_VOICES=low, high", "LLM_MODEL=")
	f.enqueue(1, "--preset", "quick", "--audio", "extended_audio")
	victim := f.worker(6)
	<-reached
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	close(end)
	heir := f.worker(6)
	f.wait(1)
	f.stop(heir)
	again := 0
	for _, n := range speech.asked {
		again += n - 1
	}
	if again > inFlight || len(speech.asked) < spoken+inFlight {
		t.Errorf("%d of %d pieces were asked for again, at most %d may be", again, len(speech.asked), inFlight)
	}
	var list struct {
		RunID string `json:"run_id"`
	}
	listed := strings.TrimSpace(f.output("list", "--batch", "fleet", "--json"))
	if err := json.Unmarshal([]byte(listed), &list); err != nil {
		t.Fatal(err)
	}
	cues := narration.ReadTranscript([]byte(f.output("report", list.RunID, "--format", "vtt")))
	if len(cues) != len(speech.asked) {
		t.Errorf("the transcript has %d pieces of %d", len(cues), len(speech.asked))
	}
	f.output("verify", list.RunID) // ends with 0 if there is no problem
}

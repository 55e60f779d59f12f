package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/narration"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// voice is an engine that returns 10 ms of silence for each byte. It records its input.
type voice struct {
	mu    sync.Mutex
	said  map[string]int // by voice and text
	total int
	hold  func(n int) // called before the n-th piece
	err   error       // that it ends with
}

func (v *voice) Name() string { return "test voice" }

func (v *voice) Voices(context.Context, string) ([]string, error) {
	return []string{"low", "high"}, nil
}

func (v *voice) Speak(_ context.Context, name, text string) ([]byte, error) {
	v.mu.Lock()
	if v.said == nil {
		v.said = map[string]int{}
	}
	v.said[name+": "+text]++
	v.total++
	n, hold := v.total, v.hold
	v.mu.Unlock()
	if hold != nil {
		hold(n)
	}
	if v.err != nil {
		return nil, v.err
	}
	sound := narration.Sound{Rate: 8000, Samples: make([]int16, 80*len(text))}
	for i := range sound.Samples {
		sound.Samples[i] = int16(i % 100 * len(name) * 50)
	}
	return sound.WAV(), nil
}

// again returns how many pieces were spoken more than once.
func (v *voice) again() (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, times := range v.said {
		n += times - 1
	}
	return n
}

func narrated(mode string) topicqueue.Options {
	o := options(2, 1, 2)
	o.Audio = mode
	return o
}

// audioOf returns the narration in the metadata of a run.
func audioOf(t *testing.T, store storage.Store, id string) (n topicqueue.Narration) {
	t.Helper()
	var m struct{ Audio *topicqueue.Narration }
	if err := json.Unmarshal(get(t, store, storage.MetadataKey(id)), &m); err != nil {
		t.Fatal(err)
	}
	if m.Audio == nil {
		t.Fatal("the metadata say nothing of a narration")
	}
	return *m.Audio
}

// scripted is a good model that also writes scripts.
func scripted(t *testing.T) llm.Model {
	return stubModel(t, &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
		if q.Name == "narrate" {
			return `{"turns":[{"speaker":"A","text":"What do heat pumps need? [1]"},` +
				`{"speaker":"B","text":"They need **low** temperatures."}]}`, true
		}
		return goodAnswer(q)
	}})
}

// TestNarration: a report is read aloud in all modes. The sound and its transcript are in a valid bundle.
func TestNarration(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, test := range map[string]struct {
		mode   string
		model  bool
		voices int
	}{
		"all of it":                     {topicqueue.AudioExtended, true, 1},
		"main points":                   {topicqueue.AudioSingle, true, 1},
		"main points, two voices":       {topicqueue.AudioDual, true, 2},
		"without a model":               {topicqueue.AudioDual, false, 2},
		"all of it, without a model":    {topicqueue.AudioExtended, false, 1},
		"main points, without a model ": {topicqueue.AudioSingle, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := setup(t, redistest.InProcess(t), nil), &voice{}
			if b.services.Speech = v; test.model {
				b.services.Model = scripted(t)
			}
			id := b.ended(narrated(test.mode))
			if run := b.run(id); run.State != topicqueue.RunCompleted {
				t.Errorf("the run is %s: %s", run.State, run.Reason)
			}
			n := audioOf(t, b.services.Store, id)
			if n.Problem != "" || n.Engine != "test voice" || n.Mode != test.mode {
				t.Errorf("%+v", n)
			}
			if len(n.Voices) != test.voices || len(n.Fallbacks) > 0 {
				t.Errorf("voices %q, without the model: %q", n.Voices, n.Fallbacks)
			}
			cues := narration.ReadTranscript(get(t, b.services.Store, n.Transcript))
			want := map[string]bool{}
			for _, c := range cues {
				want[map[string]string{"": "low", "A": "low", "B": "high"}[c.Speaker]+": "+c.Text] = true
				if off := c.End - c.Start - 10*time.Millisecond*time.Duration(len(c.Text)); off.Abs() > 2*time.Millisecond {
					t.Errorf("%q is %s too long", c.Text, off)
				}
			}
			for piece := range v.said {
				if !want[piece] {
					t.Errorf("%q is not in the transcript", piece)
				}
			}
			if len(cues) == 0 || (cues[0].Speaker != "") != (test.voices == 2) {
				t.Errorf("%d cues", len(cues))
			}
			if last := cues[len(cues)-1].End.Seconds(); n.Seconds < last-0.01 || n.Seconds > last+0.01 {
				t.Errorf("%g s, the last cue ends at %g", n.Seconds, last)
			}
			for _, mark := range []string{"[", "]", "**", "CIT-", "|"} {
				if text := string(get(t, b.services.Store, n.Transcript)); strings.Contains(text, mark) {
					t.Errorf("%q is said in\n%s", mark, text)
				}
			}
			decoded(t, get(t, b.services.Store, n.File), n)
			if c := b.check(id); len(c.Problems) > 0 {
				t.Errorf("%+v", c.Problems)
			}
		})
	}
}

// decoded returns the sound of a file and checks its duration. Without a decoder the test is skipped, and fails in CI.
func decoded(t *testing.T, body []byte, n topicqueue.Narration) narration.Sound {
	t.Helper()
	program, err := exec.LookPath("ffmpeg")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-v", "error", "-i", "pipe:0", "-f", "wav", "-ac", "1", "pipe:1")
	cmd.Stdin = strings.NewReader(string(body))
	wav, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	sound, err := narration.ReadWAV(wav)
	if err != nil {
		t.Fatal(err)
	}
	if d := sound.Duration().Seconds(); d < n.Seconds-0.1 || d > n.Seconds+0.5 {
		t.Errorf("it sounds for %g s, the metadata say %g", d, n.Seconds)
	}
	return sound
}

// TestNarrationByEspeak: espeak-ng reads reports in English and Chinese. Duration, loudness, voices and the times of
// the transcript are correct.
func TestNarrationByEspeak(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	engine, err := narration.FindEspeak()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			b, o := setup(t, redistest.InProcess(t), nil), narrated(topicqueue.AudioDual)
			b.services.Speech, o.Language = engine, language
			id := b.ended(o)
			n := audioOf(t, b.services.Store, id)
			if n.Problem != "" || len(n.Voices) != 2 || n.Voices[0] == n.Voices[1] {
				t.Fatalf("%+v", n)
			}
			cues := narration.ReadTranscript(get(t, b.services.Store, n.Transcript))
			sound := decoded(t, get(t, b.services.Store, n.File), n)
			letters, voices := 0, map[string]bool{}
			for i, c := range cues {
				letters += len(c.Text) // a Chinese character has three bytes
				voices[c.Speaker] = true
				if i > 0 && loudness(sound, cues[i-1].End, c.Start) > 0.2 {
					t.Errorf("it is loud between %s and %s", cues[i-1].End, c.Start)
				}
				if loudness(sound, c.Start, c.End) < 0.2 {
					t.Errorf("nothing is heard of %q", c.Text)
				}
			}
			if rate := float64(letters) / n.Seconds; rate < 5 || rate > 25 || len(voices) != 2 {
				t.Errorf("%.0f letters a second, voices %v", rate, voices)
			}
			peak := max(int(slices.Max(sound.Samples)), -int(slices.Min(sound.Samples)))
			if peak < 5000 || peak > 32_000 {
				t.Errorf("the peak is %d", peak)
			}
		})
	}
}

// loudness returns the maximum loudness of a sound between two times, as a share of its peak.
func loudness(s narration.Sound, from, to time.Duration) float64 {
	const late = 80 * time.Millisecond // encoders put some milliseconds before a sound
	at := func(d time.Duration) int { return min(len(s.Samples), int((d+late).Seconds()*float64(s.Rate))) }
	loudest := func(part []int16) float64 { return max(float64(slices.Max(part)), -float64(slices.Min(part))) }
	part := s.Samples[at(from):max(at(from)+1, at(to-2*late))]
	return loudest(part) / loudest(s.Samples)
}

// TestNarrationFails: if the narration fails, the run keeps the outcome of its report and states the reason.
func TestNarrationFails(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Welcome</title>"))
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	halfAFile := func(w http.ResponseWriter, _ *http.Request) {
		body := narration.Sound{Rate: 8000, Samples: make([]int16, 8000)}.WAV()
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(body[:len(body)/2])
	}
	mp3 := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = w.Write([]byte("ID3 no WAV"))
	}
	for name, test := range map[string]struct {
		prepare func(t *testing.T, b *bench, o *topicqueue.Options)
		says    string
	}{
		"no engine": {func(*testing.T, *bench, *topicqueue.Options) {}, "no speech engine is available"},
		"the engine fails": {func(_ *testing.T, b *bench, _ *topicqueue.Options) {
			b.services.Speech = &voice{err: errors.New("out of breath")}
		}, "out of breath"},
		"a page":           {server(page, time.Minute), "text/html"},
		"a hanging server": {server(hang, 100*time.Millisecond), "no complete answer within"},
		"half a file":      {server(halfAFile, time.Minute), "truncated"},
		"another type":     {server(mp3, time.Minute), "not a WAV file"},
		"no budget": {func(t *testing.T, b *bench, o *topicqueue.Options) {
			server(page, time.Minute)(t, b, o)
			b.services.Model = scripted(t)
			o.Budget = topicqueue.Budget{USD: 5}
		}, "no price is known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, o := setup(t, redistest.InProcess(t), nil), narrated(topicqueue.AudioSingle)
			test.prepare(t, b, &o)
			id := b.ended(o)
			n := audioOf(t, b.services.Store, id)
			if !strings.Contains(n.Problem, test.says) || n.File != "" || n.Mode != topicqueue.AudioSingle {
				t.Errorf("%+v", n)
			}
			if run := b.run(id); run.Report == "" || run.State != topicqueue.RunCompleted && o.Budget == (topicqueue.Budget{}) {
				t.Errorf("the run is %s: %s", run.State, run.Reason)
			}
			if c := b.check(id); len(c.Problems) > 0 {
				t.Errorf("%+v", c.Problems)
			}
		})
	}
}

// server starts a local speech server for the bench, with this timeout.
func server(handler http.HandlerFunc, timeout time.Duration) func(*testing.T, *bench, *topicqueue.Options) {
	return func(t *testing.T, b *bench, _ *topicqueue.Options) {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for buf, err := make([]byte, 4096), error(nil); err == nil; { // so that it notices when the client goes
				_, err = r.Body.Read(buf)
			}
			handler(w, r)
		}))
		t.Cleanup(s.Close)
		speaker, err := llm.NewSpeaker(llm.SpeakerSettings{Model: "tts", BaseURL: s.URL, MaxTries: 2,
			Timeout: timeout, HTTPClient: s.Client(), Check: func(wav []byte) error {
				_, err := narration.ReadWAV(wav)
				return err
			}})
		if err != nil {
			t.Fatal(err)
		}
		b.services.Speech = speaker
	}
}

// TestNarrationGoesOn: workers that are stopped during narration yield it with its progress. No piece is spoken twice.
func TestNarrationGoesOn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b, v := setup(t, rdb, nil), &voice{}
		b.services.Speech = v
		reached := make(chan struct{}, 1000)
		v.hold = func(n int) {
			if n%2 == 0 {
				reached <- struct{}{}
			}
		}
		o := narrated(topicqueue.AudioExtended)
		id := b.enqueue(topic, o, "")
		stops := 0
		for range 3 {
			w := b.start(jobs.Settings{})
			for ended := false; !ended; {
				select {
				case <-reached:
					stops++
					ended = true
				case <-time.After(5 * time.Millisecond):
					ended = b.run(id).State.Final()
				}
			}
			w.Stop()
		}
		w := b.start(jobs.Settings{})
		defer w.Stop()
		b.wait(id)
		if n := v.again(); n > 0 || stops == 0 {
			t.Errorf("%d pieces were spoken again after %d stops", n, stops)
		}
		if n := audioOf(t, b.services.Store, id); n.File == "" {
			t.Errorf("%+v", n)
		}
	})
}

// TestNarrationIsBrokenOff: a run that is cancelled or out of time during narration ends with the outcome of its
// report.
func TestNarrationIsBrokenOff(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, test := range map[string]struct {
		duration time.Duration
		cancel   bool
		says     string
	}{"cancelled": {0, true, "not needed"}, "out of time": {length, false, "the time of the run was used up"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := setup(t, redistest.InProcess(t), nil), &voice{}
			b.services.Speech = v
			end := make(chan struct{})
			v.hold = func(int) { <-end }
			o := narrated(topicqueue.AudioExtended)
			o.SubTopics, o.Duration, o.WritingTime = 1, test.duration, test.duration/6
			w := b.start(jobs.Settings{Grace: time.Second})
			defer w.Stop()
			defer close(end)
			id := b.enqueue(topic, o, "")
			if run := b.until(id, "narrated", func(r topicqueue.Run) bool {
				return r.State == topicqueue.RunNarrating || r.State.Final()
			}); run.State.Final() {
				t.Skipf("this machine had no time to narrate: the run is %s (%s)", run.State, run.Reason)
			}
			if test.cancel {
				intents, err := b.services.Queue.Cancel(t.Context(), id, test.says, false)
				b.dispatched(intents, err)
			}
			b.wait(id)
			if run := b.run(id); run.State != topicqueue.RunCompleted {
				t.Errorf("the run is %s: %s", run.State, run.Reason)
			}
			if n := audioOf(t, b.services.Store, id); n.Problem != test.says || n.File != "" {
				t.Errorf("%+v", n)
			}
			parsed(t, b, id)
		})
	}
}

// TestNarrationOfARetry: a retried run drops the sound of its first report.
func TestNarrationOfARetry(t *testing.T) {
	t.Parallel()
	b, v := setup(t, redistest.InProcess(t), nil), &voice{}
	b.services.Speech = v
	id := b.ended(narrated(topicqueue.AudioSingle))
	first := audioOf(t, b.services.Store, id)
	b.services.Speech = nil
	w := b.start(jobs.Settings{})
	defer w.Stop()
	intents, err := b.services.Queue.Retry(t.Context(), id, "report", 1)
	b.dispatched(intents, err)
	b.until(id, "published again", func(r topicqueue.Run) bool { return published(r) && r.State.Final() })
	if n := audioOf(t, b.services.Store, id); !strings.Contains(n.Problem, narration.ErrNoEngine.Error()) {
		t.Errorf("%+v", n)
	}
	for _, key := range []string{first.File, first.Transcript} {
		if there, err := b.services.Store.Exists(t.Context(), key); there || err != nil {
			t.Errorf("%s is there: %v, %v", key, there, err)
		}
	}
	if c := b.check(id); len(c.Problems) > 0 {
		t.Errorf("%+v", c.Problems)
	}
}

var _ narration.Speaker = (*voice)(nil)

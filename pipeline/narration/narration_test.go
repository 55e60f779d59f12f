package narration_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const written = `# Committed data survives a server failure

A commit is as safe as the slowest place it waits for [[1](#ref-1)][[2](#ref-2)].
See [the guide](https://example.org/a?b=c) or https://www.example.org/x.

## The log

Every change is appended to the log *before* the ` + "`pages`" + ` are altered [[CIT-3-01](#ref-cit-3-01)].
Throughput dropped by 38% \[unsupported\].

` + "```sql\nSET x[7] = '[CIT-1-01]';\n```" + `

| Kind | Commit waits |
|---|---|
| synchronous | for 2 standbys |

- **Costs**: they are open
- ![a chart](figures/x.svg)

## Conclusion

The log protects against a crash [[1](#ref-1)].

## References

<a id="ref-1"></a> [1] Guide · 2024-06-01
`

// read reads a report whose last section is its conclusion.
func read(markdown string) report.Report {
	r := report.Read(markdown)
	if last := &r.Sections[len(r.Sections)-1]; len(r.Sections) > 1 && last.Role == report.RoleSection {
		last.Role = report.RoleConclusion
	}
	return r
}

func script(t *testing.T, model llm.Model, mode, language, markdown string) narration.Script {
	t.Helper()
	s, err := narration.Writer{Model: model}.Script(t.Context(), narration.Report{RunID: "run", Language: language,
		Mode: mode, Tree: read(markdown)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lines(s narration.Script) (out []string) {
	for _, turn := range s.Turns {
		out = append(out, fmt.Sprint(turn.Voice)+" "+turn.Text)
	}
	return out
}

// Without a model, the script is taken from the report in speakable form.
func TestScriptWithoutModel(t *testing.T) {
	t.Parallel()
	title := "0 Committed data survives a server failure"
	opening := "A commit is as safe as the slowest place it waits for. See the guide or example.org."
	for name, test := range map[string]struct {
		mode string
		want []string
	}{
		"all of it": {topicqueue.AudioExtended, []string{title, "0 " + opening, "0 The log",
			"0 Every change is appended to the log before the pages are altered. Throughput dropped by 38% (unsupported).",
			"0 Costs: they are open", "0 Conclusion", "0 The log protects against a crash."}},
		"one voice":  {topicqueue.AudioSingle, []string{title, "0 " + opening, "0 The log protects against a crash."}},
		"two voices": {topicqueue.AudioDual, []string{title, "1 " + opening, "0 The log protects against a crash."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := lines(script(t, nil, test.mode, "en", written)); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Run data in a published report is neither read aloud nor shown to the model. Other block quotes are.
func TestScriptOfPublished(t *testing.T) {
	t.Parallel()
	const text = "# T\n\n> **Topic:** Ships\\\n> 2026-03-01 · run `research_x`\n\n> A quote.\n\nOpening.\n"
	w := &writer{turns: []prompts.NarrateTurn{{Speaker: "A", Text: "Said."}}}
	for _, model := range []llm.Model{nil, w} {
		s, err := narration.Writer{Model: model}.Script(t.Context(), narration.Report{Language: "en",
			Mode: topicqueue.AudioExtended, Tree: read(text)})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"0 T", "0 A quote.", "0 Opening."}
		if model != nil {
			want = []string{"0 T", "0 Said."}
		}
		if !slices.Equal(lines(s), want) {
			t.Errorf("%q", lines(s))
		}
	}
	if q := w.asked[0]; strings.Contains(q, "research_x") || !strings.Contains(q, "A quote.") {
		t.Errorf("the model is shown\n%s", q)
	}
}

// writer answers with turns, or with an error.
type writer struct {
	turns []prompts.NarrateTurn
	err   error
	mu    sync.Mutex
	asked []string
}

func (w *writer) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, req.Prompt.User)
	if w.err != nil {
		return llm.Response{}, w.err
	}
	body, err := json.Marshal(prompts.NarrateAnswer{Turns: w.turns})
	return llm.Response{Text: string(body)}, err
}

// A model's script is cleaned of unspeakable parts and of figures that are not in the report.
func TestScriptOfModel(t *testing.T) {
	t.Parallel()
	w := &writer{turns: []prompts.NarrateTurn{
		{Speaker: "A", Text: "## Intro\n\nWhat did it cost? Throughput dropped by 38% [1], **nearly** two fifths. " +
			"It fell by 83% elsewhere."},
		{Speaker: "B", Text: "It waits for 2 standbys [CIT-3-01](https://example.org). In 1997 it was slower."},
		{Speaker: "b", Text: "| a | b |\n|---|---|\n| 1 | 2 |"},
	}}
	got := script(t, w, topicqueue.AudioDual, "en", written)
	want := []string{"0 Committed data survives a server failure", "0 Intro",
		"0 What did it cost? Throughput dropped by 38%, nearly two fifths.", "1 It waits for 2 standbys."}
	if !slices.Equal(lines(got), want) || got.LeftOut != 2 || len(got.Fallbacks) > 0 {
		t.Errorf("%q, %d left out, %q", lines(got), got.LeftOut, got.Fallbacks)
	}
	for words, shown := range map[string]bool{"#ref-": false, "2024-06-01": false, "| synchronous |": true} {
		if strings.Contains(w.asked[0], words) != shown {
			t.Errorf("the model is shown %q: %v\n%s", words, !shown, w.asked[0])
		}
	}
}

// If only one of two voices speaks, they alternate.
func TestScriptOfOneVoice(t *testing.T) {
	t.Parallel()
	w := &writer{turns: []prompts.NarrateTurn{{Speaker: "A", Text: "One."}, {Speaker: "A", Text: "Two."}}}
	got := lines(script(t, w, topicqueue.AudioDual, "en", written))
	if want := []string{"0 One.", "1 Two."}; !slices.Equal(got[1:], want) {
		t.Errorf("%q", got)
	}
}

// A failed model call only loses the model's text.
func TestScriptFallsBack(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{topicqueue.AudioExtended, topicqueue.AudioSingle, topicqueue.AudioDual} {
		for name, w := range map[string]*writer{"error": {err: llm.ErrPermanent}, "budget": {err: llm.ErrBudget},
			"only wrong figures": {turns: []prompts.NarrateTurn{{Speaker: "A", Text: "It took 4711 days."}}}} {
			got := script(t, w, mode, "en", written)
			if want := lines(script(t, nil, mode, "en", written)); !slices.Equal(lines(got), want) || len(got.Fallbacks) == 0 {
				t.Errorf("%s, %s: %q, %q", mode, name, lines(got), got.Fallbacks)
			}
		}
	}
}

// A report that exceeds the model's window is shown with the beginnings of its sections.
func TestScriptOfSmallWindow(t *testing.T) {
	t.Parallel()
	long := "# T\n\n" + strings.Repeat("Words.\n\n", 64) + "## S\n\n" + strings.Repeat("More.\n\n", 64)
	w := &writer{turns: []prompts.NarrateTurn{{Speaker: "A", Text: "Words."}}}
	model := windowed{w, 700}
	got := script(t, model, topicqueue.AudioSingle, "en", long)
	if len(got.Fallbacks) > 0 || !strings.Contains(w.asked[0], "more paragraphs, not shown") {
		t.Errorf("%q, asked %q", got.Fallbacks, w.asked)
	}
}

type windowed struct {
	llm.Model
	bytes int
}

func (w windowed) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if len(req.Prompt.User) > w.bytes {
		return llm.Response{}, fmt.Errorf("%w: %w", llm.ErrContextLength, llm.ErrPermanent)
	}
	return w.Model.Generate(ctx, req)
}

func TestPieces(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("word ", 30) + "end. "
	chinese := strings.Repeat("数据库在提交之前写日志，", 40) + "然后提交。"
	turns := []narration.Turn{{Text: strings.TrimSpace(strings.Repeat(sentence, 5))}, {Voice: 1, Text: "Short. Two."},
		{Text: chinese}, {Text: strings.Repeat("x", 3000)}}
	pieces := narration.Pieces(turns)
	said := map[int]string{}
	turn := 0
	for _, p := range pieces {
		for !strings.HasPrefix(strings.TrimSpace(turns[turn].Text[len(said[turn]):]), p.Text) {
			turn++
		}
		said[turn] = turns[turn].Text[:strings.Index(turns[turn].Text[len(said[turn]):], p.Text)+len(said[turn])+len(p.Text)]
		if n := utf8.RuneCountInString(p.Text); n > 1000 || p.Voice != turns[turn].Voice {
			t.Errorf("voice %d says %d characters at once", p.Voice, n)
		}
	}
	for i, turn := range turns {
		if said[i] != turn.Text {
			t.Errorf("of %.40q is said %.40q", turn.Text, said[i])
		}
	}
}

// tone returns a sound like that of an engine.
func tone(rate int, seconds, peak float64) []byte {
	s := narration.Sound{Rate: rate}
	for i := range int(float64(rate) * seconds) {
		s.Samples = append(s.Samples, int16(peak*math.Cos(2*math.Pi*440*float64(i)/float64(rate))))
	}
	return s.WAV()
}

// Sounds with different levels are joined without clicks and clipping, and the transcript has the right
// times.
func TestRecord(t *testing.T) {
	t.Parallel()
	pieces := narration.Pieces([]narration.Turn{{Text: "One <b> & more."}, {Voice: 1, Text: "Two."}, {Text: "Three."}})
	sounds := map[string][]byte{"One <b> & more.": tone(24000, 1, 32767), "Two.": tone(24000, 0.5, 20000),
		"Three.": tone(24000, 0.25, 8000)}
	r, err := narration.Record(t.Context(), pieces, func(_ context.Context, p narration.Piece) ([]byte, error) {
		return sounds[p.Text], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rate != 24000 {
		t.Errorf("the rate is %d", r.Rate)
	}
	if d := r.Duration(); d < 1750*time.Millisecond || d > 3*time.Second {
		t.Errorf("it takes %s", d)
	}
	peak, step := 0, 0
	for i, v := range r.Samples {
		peak = max(peak, int(math.Abs(float64(v))))
		if i > 0 {
			step = max(step, int(math.Abs(float64(v)-float64(r.Samples[i-1]))))
		}
	}
	if peak >= 30_000 || peak < 28_000 {
		t.Errorf("the peak is %d", peak)
	}
	// the maximum step between two samples of a 440 Hz tone with this peak; clicks are larger
	if most := int(float64(peak)*2*math.Pi*440/24000) + 400; step > most {
		t.Errorf("the sound jumps by %d, more than %d", step, most)
	}
	got := narration.ReadTranscript(narration.Transcript("T --> x", r.Cues))
	for i, want := range []narration.Cue{{Speaker: "A", Text: "One <b> & more."}, {Speaker: "B", Text: "Two."}, {Speaker: "A", Text: "Three."}} {
		sound, err := narration.ReadWAV(sounds[want.Text])
		if err != nil {
			t.Fatal(err)
		}
		if got[i].Text != want.Text || got[i].Speaker != want.Speaker {
			t.Errorf("cue %d is %+v", i, got[i])
		}
		if off := got[i].End - got[i].Start - sound.Duration(); off.Abs() > 2*time.Millisecond {
			t.Errorf("cue %d is %s too long", i, off)
		}
		from, to := at(r.Sound, got[i].Start), at(r.Sound, got[i].End)
		before, after := r.Samples[max(0, from-100):from], r.Samples[to:min(len(r.Samples), to+100)]
		if !silent(before) || silent(r.Samples[from:to]) || !silent(after) {
			t.Errorf("cue %d does not begin and end with its sound", i)
		}
	}
}

func at(s narration.Sound, d time.Duration) int {
	return min(len(s.Samples), int(d.Seconds()*float64(s.Rate)))
}

// silent reports whether a part is silent, except for one sample where a time was rounded.
func silent(samples []int16) bool {
	for _, v := range samples[min(len(samples), 30):max(min(len(samples), 30), len(samples)-30)] {
		if v != 0 {
			return false
		}
	}
	return true
}

// The first error ends a recording.
func TestRecordFails(t *testing.T) {
	t.Parallel()
	pieces := narration.Pieces([]narration.Turn{{Text: "One."}, {Text: "Two."}})
	broken := errors.New("the engine broke")
	_, err := narration.Record(t.Context(), pieces, func(context.Context, narration.Piece) ([]byte, error) {
		return nil, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	_, err = narration.Record(ctx, pieces, func(ctx context.Context, _ narration.Piece) ([]byte, error) {
		return nil, ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := narration.Record(t.Context(), nil, nil); err == nil {
		t.Error("nothing was read aloud, without an error")
	}
}

func TestReadWAV(t *testing.T) {
	t.Parallel()
	whole := tone(16000, 0.1, 1000)
	stereo := bytes.Clone(whole)
	binary.LittleEndian.PutUint16(stereo[22:], 2)
	streamed := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(streamed[40:], 0xFFFFFFFF)
	empty := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(empty[40:], 0)
	float := bytes.Clone(whole)
	binary.LittleEndian.PutUint16(float[20:], 3)
	list := slices.Concat(whole[:36], []byte("LIST\x03\x00\x00\x00abc\x00"), whole[36:])
	for name, test := range map[string]struct {
		body    []byte
		samples int
		err     string
	}{
		"whole":                  {whole, 1600, ""},
		"two channels":           {stereo, 800, ""},
		"from a pipe":            {streamed, 1600, ""},
		"from a pipe, no length": {empty, 1600, ""},
		"another chunk before":   {list, 1600, ""},
		"half":                   {whole[:len(whole)/2], 0, "truncated"},
		"only the head":          {whole[:44], 0, "truncated"},
		"no samples":             {slices.Concat(whole[:40], make([]byte, 4)), 0, "no samples"},
		"HTML":                   {[]byte("<!DOCTYPE html><p>Log in"), 0, "not a WAV"},
		"MP3":                    {[]byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0, "not a WAV"},
		"nothing":                {nil, 0, "not a WAV"},
		"floats":                 {float, 0, "16-bit PCM"},
	} {
		got, err := narration.ReadWAV(test.body)
		if wrong := err != nil && !strings.Contains(err.Error(), test.err); (err == nil) != (test.err == "") || wrong {
			t.Errorf("%s: %v", name, err)
		}
		if len(got.Samples) != test.samples && test.err == "" {
			t.Errorf("%s: %d samples", name, len(got.Samples))
		}
	}
}

// FuzzReadWAV: a written file is read back unchanged.
func FuzzReadWAV(f *testing.F) {
	f.Add(tone(8000, 0.01, 100))
	f.Fuzz(func(t *testing.T, body []byte) {
		sound, err := narration.ReadWAV(body)
		if err != nil {
			return
		}
		again, err := narration.ReadWAV(sound.WAV())
		if err != nil || again.Rate != sound.Rate || !slices.Equal(again.Samples, sound.Samples) {
			t.Errorf("%v, %d of %d samples", err, len(again.Samples), len(sound.Samples))
		}
	})
}

// engine returns espeak-ng. Without it the test is skipped, and fails in CI.
func engine(t *testing.T) narration.Espeak {
	t.Helper()
	e, err := narration.FindEspeak()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return e
}

// Reports in English and Chinese, spoken by espeak-ng with two voices and encoded by the installed program.
func TestEspeak(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for language, words := range map[string]string{
		"en": "Every change is appended to the log before the data pages are altered. The server reads it after a crash.",
		"zh": "数据库在修改数据页之前，把每个更改追加到预写日志。崩溃之后，服务器读取日志。",
	} {
		voices, err := e.Voices(t.Context(), language)
		if err != nil {
			t.Fatal(err)
		}
		spoken := map[string]bool{}
		for _, voice := range voices {
			wav, err := e.Speak(t.Context(), voice, words)
			if err != nil {
				t.Fatal(err)
			}
			sound, err := narration.ReadWAV(wav)
			if err != nil {
				t.Fatal(err)
			}
			if d := sound.Duration(); d < 4*time.Second || d > 30*time.Second {
				t.Errorf("%s takes %s as %s", language, d, voice)
			}
			spoken[string(wav)] = true
		}
		if len(spoken) != 2 {
			t.Errorf("%s: both voices sound the same", language)
		}
	}
	if _, err := e.Voices(t.Context(), "tlh-x"); err == nil || !strings.Contains(err.Error(), "no voice") {
		t.Errorf("a language without a voice: %v", err)
	}
	if _, err := e.Speak(t.Context(), "nobody", "x"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("no such voice: %v", err)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	encoder, ok := narration.FindEncoder()
	if !ok {
		t.Skip("no encoder is installed")
	}
	small, err := encoder.Encode(t.Context(), tone(22050, 2, 20000))
	if err != nil || len(small) == 0 || len(small) > 40_000 {
		t.Errorf("%d bytes, %v", len(small), err)
	}
	if _, err := encoder.Encode(t.Context(), []byte("no sound")); err == nil && encoder.Format == "opus" {
		t.Error("it encodes a text")
	}
	var missing *exec.Error
	_, err = narration.Encoder{Program: "/nonexistent/lame"}.Encode(t.Context(), nil)
	if !errors.As(err, &missing) && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its program: %v", err)
	}
}

package narration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"nightdesk/pipeline/text"
)

// EspeakProgram is the program used if no speech server is configured.
const EspeakProgram = "espeak-ng"

// ErrNoEngine means that no speech engine is available.
var ErrNoEngine = errors.New("no speech engine is available: set speech.model or install " + EspeakProgram)

// programTime is the maximum run time of a program for one piece or one recording.
const programTime = 2 * time.Minute

// Speaker is a speech engine. Implementations are safe for concurrent use.
type Speaker interface {
	// Name returns the engine's name for metadata.
	Name() string
	// Voices returns two voices for a language (BCP 47 tag). They may be equal.
	Voices(ctx context.Context, language string) ([]string, error)
	// Speak converts a text to a WAV file. The error is human-readable.
	Speak(ctx context.Context, voice, text string) ([]byte, error)
}

// Espeak is the local program espeak-ng.
type Espeak struct {
	program string
	voices  []string
}

var _ Speaker = Espeak{}

// FindEspeak returns the engine with the given voices; none: voices of the language. The error is ErrNoEngine.
func FindEspeak(voices ...string) (Espeak, error) {
	path, err := exec.LookPath(EspeakProgram)
	if err != nil {
		return Espeak{}, ErrNoEngine
	}
	return Espeak{path, voices}, nil
}

// Name implements Speaker.
func (Espeak) Name() string { return EspeakProgram }

// Voices implements Speaker.
func (e Espeak) Voices(ctx context.Context, language string) ([]string, error) {
	if n := len(e.voices); n > 0 {
		return []string{e.voices[0], e.voices[n-1]}, nil
	}
	list, err := pipe(ctx, nil, e.program, "--voices="+language)
	if err != nil {
		return nil, fmt.Errorf("list the voices of %s: %w", EspeakProgram, err)
	}
	for line := range strings.Lines(string(list)) {
		// Columns: priority, language, age and gender, name, file. Files in mb need another program. A variant such as
		// +f3 only works with the file name, not with a language.
		columns := strings.Fields(line)
		if len(columns) >= 5 && columns[0] != "Pty" && !strings.HasPrefix(columns[4], "mb/") {
			return []string{columns[4], columns[4] + "+f3"}, nil
		}
	}
	return nil, fmt.Errorf("%s has no voice for the language %q: set speech.voices, or speech.model", EspeakProgram,
		language)
}

// Speak implements Speaker.
func (e Espeak) Speak(ctx context.Context, voice, words string) ([]byte, error) {
	body, err := pipe(ctx, []byte(words), e.program, "-b", "1", "-v", voice, "-s", "160", "--stdin", "--stdout")
	if err == nil {
		_, err = ReadWAV(body)
	}
	if err != nil {
		return nil, fmt.Errorf("speak %q with %s as %s: %w", text.Clip(words, 40), EspeakProgram, voice, err)
	}
	return body, nil
}

// pipe runs a program with input and returns its output.
func pipe(ctx context.Context, input []byte, program string, args ...string) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(timed, program, args...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &said
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case timed.Err() != nil:
		return nil, fmt.Errorf("stopped after %s", programTime)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, text.Clip(text.Line(said.String()), 200))
	}
	return out.Bytes(), nil
}

// Encoder compresses WAV files with an external program.
type Encoder struct {
	Program string // path of the program
	Format  string // file extension: mp3 or opus
	args    []string
}

// encoders are the programs to look for in PATH, in order of preference. The bit rate is constant, because a file
// written to a pipe has no index, and players need one to find the duration at a variable bit rate.
var encoders = []Encoder{
	{"lame", "mp3", []string{"--quiet", "-m", "m", "-b", "64", "--cbr", "-", "-"}},
	{"ffmpeg", "mp3", []string{"-v", "error", "-i", "pipe:0", "-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3", "pipe:1"}},
	{"opusenc", "opus", []string{"--quiet", "--bitrate", "32", "-", "-"}},
}

// Formats returns the extensions of all files of a narration.
func Formats() []string { return []string{"mp3", "opus", "wav", "vtt"} }

// FindEncoder returns the preferred installed encoder; false if there is none.
func FindEncoder() (Encoder, bool) {
	for _, e := range encoders {
		if path, err := exec.LookPath(e.Program); err == nil {
			e.Program = path
			return e, true
		}
	}
	return Encoder{}, false
}

// Encode converts a WAV file to the encoder's format.
func (e Encoder) Encode(ctx context.Context, wav []byte) ([]byte, error) {
	body, err := pipe(ctx, wav, e.Program, e.args...)
	if err == nil && len(body) == 0 {
		err = errors.New("it wrote no output")
	}
	if err != nil {
		return nil, fmt.Errorf("create the %s of the narration with %s: %w", e.Format, e.Program, err)
	}
	return body, nil
}

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

// EspeakProgram is the program that speaks where no speech server is set.
const EspeakProgram = "espeak-ng"

// ErrNoEngine means that nothing on this machine speaks.
var ErrNoEngine = errors.New("there is no speech engine: set speech.model or install " + EspeakProgram)

// programTime is how long a program may take for one piece or one recording.
const programTime = 2 * time.Minute

// Speaker is a speech engine. Implementations are safe for concurrent use.
type Speaker interface {
	// Name returns what the engine is called in metadata.
	Name() string
	// Voices returns two voices for a language, given as its BCP 47 tag. They may be the same.
	Voices(ctx context.Context, language string) ([]string, error)
	// Speak returns a text as a WAV file. The error says why there is none, for a person.
	Speak(ctx context.Context, voice, text string) ([]byte, error)
}

// Espeak is espeak-ng on this machine.
type Espeak struct {
	program string
	voices  []string
}

var _ Speaker = Espeak{}

// FindEspeak returns the engine, with these voices; none: those of the language. The error is ErrNoEngine.
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
		// priority, language, age and gender, name, file; those below mb need another program. Only the file's name
		// takes a variant: behind a language it means nothing.
		columns := strings.Fields(line)
		if len(columns) >= 5 && columns[0] != "Pty" && !strings.HasPrefix(columns[4], "mb/") {
			return []string{columns[4], columns[4] + "+f3"}, nil
		}
	}
	return nil, fmt.Errorf("%s has no voice for the language %q: set speech.voices, or speech.model", EspeakProgram,
		language)
}

// Speak returns a text as a WAV file.
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

// pipe runs a program on an input and returns its output.
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

// Encoder makes a small file of a WAV file, with a program of this machine.
type Encoder struct {
	Program string // its path
	Format  string // extension of its files: mp3 or opus
	args    []string
}

// encoders are looked for on PATH, the best first. The rate of the bits is fixed because a file that is written to a
// pipe has no index, and players could not tell how long one with a variable rate is.
var encoders = []Encoder{
	{"lame", "mp3", []string{"--quiet", "-m", "m", "-b", "64", "--cbr", "-", "-"}},
	{"ffmpeg", "mp3", []string{"-v", "error", "-i", "pipe:0", "-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3", "pipe:1"}},
	{"opusenc", "opus", []string{"--quiet", "--bitrate", "32", "-", "-"}},
}

// Formats are the extensions of all files that a narration can have.
func Formats() []string { return []string{"mp3", "opus", "wav", "vtt"} }

// FindEncoder returns the best encoder that is installed; false when there is none.
func FindEncoder() (Encoder, bool) {
	for _, e := range encoders {
		if path, err := exec.LookPath(e.Program); err == nil {
			e.Program = path
			return e, true
		}
	}
	return Encoder{}, false
}

// Encode returns a WAV file in the encoder's format.
func (e Encoder) Encode(ctx context.Context, wav []byte) ([]byte, error) {
	body, err := pipe(ctx, wav, e.Program, e.args...)
	if err == nil && len(body) == 0 {
		err = errors.New("it wrote nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("make the %s of the narration with %s: %w", e.Format, e.Program, err)
	}
	return body, nil
}

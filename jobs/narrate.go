package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/jobs/stage"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// narrateHandler reads reports aloud. The report is committed before, so an error here only costs the audio.
type narrateHandler struct {
	queue  *redisqueue.Queue
	store  storage.Store
	speech narration.Speaker // nil: no engine
}

// paidSpeaker is a speech engine that charges for use.
type paidSpeaker interface {
	Usage(text string) topicqueue.Usage
}

// stage returns the stage of narrating. A run ends without its narration if it fails.
func (h narrateHandler) stage() stage.Stage {
	return stage.Stage{Work: h.work, Limit: untilOver, Cut: topicqueue.CutAudio,
		Failed: func(a *stage.Attempt, reason string) stage.Ending {
			return narrated(a, topicqueue.Narration{Problem: reason})
		}}
}

// work writes the script of a run's report and has it spoken piece by piece. The journal keeps each piece. Then work
// stores the result and ends the run.
func (h narrateHandler) work(ctx context.Context, a *stage.Attempt) (end stage.Ending, err error) {
	mode := a.Run.Options.Audio
	if err := a.Emit(ctx, topicqueue.StepEvent(topicqueue.StepStartAudio, mode)); err != nil {
		return end, err
	}
	if h.speech == nil {
		return end, stage.Final{Err: narration.ErrNoEngine}
	}
	voices, err := h.speech.Voices(ctx, a.Run.Options.Language)
	if err != nil {
		return end, stage.Final{Err: err}
	}
	if err := a.Budget.LookForReport(ctx); err != nil {
		return end, err
	}
	script, err := h.script(ctx, a)
	if err != nil {
		return end, err
	}
	pieces := narration.Pieces(script.Turns)
	recording, err := narration.Record(ctx, pieces, func(ctx context.Context, p narration.Piece) ([]byte, error) {
		return h.say(ctx, a, voices[p.Voice], p.Text)
	})
	if err != nil {
		return end, stage.Error("read the report aloud", err)
	}
	n := topicqueue.Narration{Mode: mode, Seconds: recording.Duration().Seconds(), Engine: h.speech.Name(),
		Voices: voices, Fallbacks: script.Fallbacks, LeftOut: script.LeftOut}
	if mode != topicqueue.AudioDual {
		n.Voices = voices[:1]
	}
	if err := h.put(ctx, a, &n, recording, script.Title); err != nil {
		return end, err
	}
	return narrated(a, n), nil
}

func (h narrateHandler) script(ctx context.Context, a *stage.Attempt) (narration.Script, error) {
	content, err := h.queue.Report(ctx, a.Run.ID)
	if err != nil {
		return narration.Script{}, err
	}
	rep, err := reporting.ReadReport(content)
	if err != nil {
		return narration.Script{}, stage.Final{Err: fmt.Errorf("decode the report: %w", err)}
	}
	o := a.Run.Options
	writer := narration.Writer{Model: a.Calls.Model()}
	if a.Lapses >= redisqueue.MaxLapses {
		writer.Model = a.Calls.WithoutModel()
	}
	return writer.Script(ctx, narration.Report{RunID: a.Run.ID, Language: o.Language, Mode: o.Audio,
		Tree: rep.Tree})
}

// say returns a piece as a WAV file, from the journal or spoken now.
func (h narrateHandler) say(ctx context.Context, a *stage.Attempt, voice, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(h.speech.Name() + "\x00" + voice + "\x00" + text))
	place := "speech/" + hex.EncodeToString(sum[:10])
	if paid, ok := h.speech.(paidSpeaker); ok {
		usage := paid.Usage(text)
		most := usage
		most.CompletionTokens = 1 // there is no answer in tokens, and 0 means unknown length
		return a.Calls.Ask(ctx, place, most, func(ctx context.Context, _ int) (llm.Made, error) {
			started := time.Now()
			wav, err := h.speech.Speak(ctx, voice, text)
			usage.Timestamp, usage.TookMS = started.UTC(), time.Since(started).Milliseconds()
			if err != nil {
				usage.Failed, usage.PromptTokens = true, 0
				return llm.Made{Usage: usage}, err
			}
			return llm.Made{Answer: wav, Usage: usage}, nil
		})
	}
	return a.Calls.Once(ctx, place, func(ctx context.Context) ([]byte, bool, error) {
		wav, err := h.speech.Speak(ctx, voice, text)
		if err != nil && ctx.Err() == nil {
			err = stage.Final{Err: err}
		}
		return wav, err == nil, err
	})
}

// put stores the audio, encoded if an encoder is available, and the transcript.
func (h narrateHandler) put(ctx context.Context, a *stage.Attempt, n *topicqueue.Narration, r narration.Recording,
	title string) error {
	sound, format := r.WAV(), "wav"
	if encoder, ok := narration.FindEncoder(); ok {
		small, err := encoder.Encode(ctx, sound)
		switch {
		case err == nil:
			sound, format = small, encoder.Format
		case ctx.Err() != nil:
			return err
		default:
			zerolog.Ctx(ctx).Warn().Err(err).Msg("encoding failed; the narration is stored as a WAV file")
		}
	}
	runID, store := a.Run.ID, a.Leased()
	n.File, n.Transcript = storage.FormatKey(runID, format), storage.FormatKey(runID, "vtt")
	return steady.Do(ctx, "store the narration", func(ctx context.Context) error {
		if err := store.Put(ctx, n.File, sound); err != nil {
			return err
		}
		return store.Put(ctx, n.Transcript, narration.Transcript(title, r.Cues))
	})
}

// narrated ends a run after its narration has succeeded or failed.
func narrated(a *stage.Attempt, n topicqueue.Narration) stage.Ending {
	result := fmt.Sprintf("narrated: %.0f s", n.Seconds)
	n.Mode = a.Run.Options.Audio
	events := []topicqueue.Event{topicqueue.StepEvent(topicqueue.StepFailAudio, n.Problem)}
	if n.Problem != "" {
		result = "no narration: " + n.Problem
	} else {
		events = []topicqueue.Event{
			topicqueue.NewEvent("audio", topicqueue.StatusAudio, topicqueue.RenderedFile{File: n.File}).With(
				map[string]string{"transcription": n.Transcript}),
			topicqueue.StepEvent(topicqueue.StepEndAudio, fmt.Sprintf("%.0f s", n.Seconds)),
		}
	}
	return stage.Ending{Doing: "record the narration", Result: result, Calls: ofStage("narrating"),
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.Queue.Narrated(ctx, a.Lease, n, events...)
		}}
}

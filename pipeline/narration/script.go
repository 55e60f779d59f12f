package narration

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Writer writes scripts. It is safe for concurrent use.
type Writer struct {
	Model llm.Model // nil: scripts are extracted from the report
}

// Report is the input of a script.
type Report struct {
	RunID    string
	Language string // BCP 47 tag
	Mode     string // one of the topicqueue.Audio... constants
	Tree     report.Report
}

// Script is the text to read aloud.
type Script struct {
	Title     string
	Turns     []Turn
	Fallbacks []string // steps that fell back from the model, for display
	LeftOut   int      // sentences removed because their figures are not in the report
}

// stage is the position stage of the model calls.
const stage = "narrating"

// Script writes the script of a report. In an overview, the model summarizes the main points. In extended mode, it
// rewrites each section for listeners. A model failure is not an error: the text is then taken from the report, for an
// overview from its opening and conclusion. The error is the cause of ctx's end.
func (w Writer) Script(ctx context.Context, r Report) (Script, error) {
	parts := partsOf(r.Tree)
	s := Script{Title: speakable(r.Tree.Title)}
	asked := []*asking{{Writer: w, report: r, title: s.Title, parts: parts, local: overview(parts, r.Mode)}}
	if r.Mode == topicqueue.AudioExtended {
		asked = nil
		for i, p := range parts {
			asked = append(asked, &asking{Writer: w, report: r, title: s.Title, ordinal: i, section: p.title,
				parts: parts[i : i+1], local: spoken(p.paragraphs)})
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	source := corpus(parts)
	for _, a := range asked {
		if w.Model == nil || len(a.parts) == 1 && len(a.parts[0].blocks) == 0 {
			continue
		}
		group.Go(func() error {
			turns, err := a.turns(groupCtx)
			a.written, a.leftOut = sayable(turns, source)
			if len(a.written) == 0 && err == nil {
				err = errors.New("no sentence of the script is in the report")
			}
			a.failed = err
			return context.Cause(groupCtx)
		})
	}
	if err := group.Wait(); err != nil {
		return Script{}, err
	}
	s.Turns = []Turn{{Text: s.Title}}
	for _, a := range asked {
		if a.failed != nil {
			s.Fallbacks = append(s.Fallbacks, strings.TrimSpace("script "+a.section)+": "+llm.Why(a.failed))
		}
		if len(a.written) == 0 {
			a.written = a.local
		}
		s.LeftOut += a.leftOut
		s.Turns = append(append(s.Turns, Turn{Text: a.section}), a.written...)
	}
	s.Turns = slices.DeleteFunc(s.Turns, func(t Turn) bool { return !hasWord(t.Text) })
	return s, nil
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, text.LetterOrDigit)
}

// overview returns the opening of a report and its conclusion, or its first section if it has no conclusion. Two voices
// alternate, after the first voice has read the title.
func overview(parts []part, mode string) []Turn {
	main := slices.Clone(parts[0].paragraphs)
	last := slices.IndexFunc(parts, func(p part) bool { return p.conclusion })
	if last < 0 && len(parts) > 1 {
		last = 1
	}
	if last > 0 {
		main = append(main, parts[last].paragraphs...)
	}
	turns := spoken(main)
	for i := range turns {
		if mode == topicqueue.AudioDual {
			turns[i].Voice = (i + 1) % 2
		}
	}
	return turns
}

// spoken returns paragraphs as turns of the first voice.
func spoken(paragraphs []string) []Turn {
	turns := make([]Turn, len(paragraphs))
	for i, p := range paragraphs {
		turns[i].Text = p
	}
	return turns
}

// asking is a model call for a script.
type asking struct {
	Writer
	report  Report
	parts   []part // parts to show
	title   string
	section string // heading of the only part; empty: the opening, or the whole report
	ordinal int
	local   []Turn // without a usable answer

	written []Turn
	leftOut int
	failed  error
}

// shrinks is the maximum number of times that a report is halved to fit the model's window.
const shrinks = 5

func (a asking) turns(ctx context.Context) ([]Turn, error) {
	for shrink := 0; ; shrink++ {
		d := prompts.NarrateData{Title: a.title, Whole: a.report.Mode == topicqueue.AudioExtended,
			Two: a.report.Mode == topicqueue.AudioDual}
		d.Text, d.Left = shown(a.parts, shrink)
		if d.Whole {
			d.Section = a.parts[0].title
		}
		answer, err := llm.Ask[prompts.NarrateAnswer](ctx, a.Model, llm.Request{
			Position: llm.Position{RunID: a.report.RunID, Stage: stage, Step: "narrate", Iteration: shrink, Ordinal: a.ordinal},
			Role:     llm.Writer, Prompt: prompts.Narrate(a.report.Language, d),
		})
		if errors.Is(err, llm.ErrContextLength) && shrink < shrinks && !d.Whole {
			continue
		}
		if err != nil {
			return nil, err
		}
		return turnsOf(answer, d.Two), nil
	}
}

// shown returns the Markdown of sections. Each increment of shrink halves their blocks. left: number of omitted blocks.
func shown(parts []part, shrink int) (markdown string, left int) {
	var out []string
	for _, p := range parts {
		if p.title != "" && len(parts) > 1 {
			out = append(out, "## "+p.title)
		}
		n := min(len(p.blocks), max(1, len(p.blocks)>>shrink))
		section := report.Report{Sections: []report.Section{{Blocks: p.blocks[:n]}}}
		out = append(out, section.Body(nil))
		left += len(p.blocks) - n
	}
	return strings.TrimSpace(strings.Join(out, "\n\n")), left
}

// turnsOf converts a model's script. If two voices are wanted but only one speaks, they alternate.
func turnsOf(answer prompts.NarrateAnswer, two bool) []Turn {
	var out []Turn
	voices := map[int]bool{}
	for _, t := range answer.Turns {
		voice := 0
		if two && strings.EqualFold(strings.TrimSpace(t.Speaker), prompts.SpeakerB) {
			voice = 1
		}
		for _, p := range said(t.Text) {
			voices[voice] = true
			out = append(out, Turn{Voice: voice, Text: p})
		}
	}
	if two && len(voices) < 2 {
		for i := range out {
			out[i].Voice = i % 2
		}
	}
	return out
}

// sayable removes sentences with figures that are not in the report, and counts them.
func sayable(turns []Turn, of *support.Corpus) (out []Turn, leftOut int) {
	for _, t := range turns {
		var kept strings.Builder
		at := 0
		for _, s := range text.ParagraphSentences(t.Text) {
			if of.Check(s.Text, "", []string{whole}).Has(support.Absent) {
				leftOut++
			} else {
				kept.WriteString(t.Text[at:s.End])
			}
			at = s.End
		}
		if words := strings.TrimSpace(kept.String()); words != "" {
			out = append(out, Turn{Voice: t.Voice, Text: words})
		}
	}
	return out, leftOut
}

// whole is the id of the report as the source of its script.
const whole = "report"

// corpus returns a report as the source of its script.
func corpus(parts []part) *support.Corpus {
	var all []string
	for _, p := range parts {
		all = append(all, p.title, report.Plain(p.blocks))
	}
	return support.New([]support.Source{{ID: whole, Text: speakable(strings.Join(all, "\n"))}})
}

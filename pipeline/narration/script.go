package narration

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Writer writes scripts. It is safe for concurrent use.
type Writer struct {
	Model llm.Model // nil: scripts are taken from the report
}

// Report is what a script is written from.
type Report struct {
	RunID    string
	Language string // BCP 47
	Mode     string // one of the topicqueue.Audio... constants
	Title    string
	Markdown string
	// Published: below its title stands what a published report says of its run, which is not read aloud.
	Published bool
}

// Script is what is read aloud.
type Script struct {
	Title     string
	Turns     []Turn
	Fallbacks []string // steps that the model should have done and did not, for a person
	LeftOut   int      // sentences of the model whose figures the report does not have
}

// stage is the part of a run whose model calls these are.
const stage = "narrating"

// Script writes the script of a report. Of an overview the model tells the main points; of the whole report each
// section is rewritten for listeners. Trouble with the model is no error: what it did not write is taken from the
// report, of an overview its opening and its conclusion. The error is the cause of ctx's end.
func (w Writer) Script(ctx context.Context, r Report) (Script, error) {
	texts := prompts.TextsIn(r.Language)
	title, parts := read(r.Markdown, texts.References.String(), r.Published)
	s := Script{Title: title}
	if s.Title == "" {
		s.Title = r.Title
	}
	whole := r.Mode == topicqueue.AudioExtended
	n := len(parts)
	if !whole {
		n = 1
	}
	written, failed, leftOut := make([][]Turn, n), make([]error, n), make([]int, n)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	check := newFigures(parts)
	for i := range n {
		if w.Model == nil || whole && parts[i].source == "" {
			continue
		}
		group.Go(func() error {
			asked := asking{Writer: w, report: r, parts: parts, title: s.Title, ordinal: i}
			if whole {
				asked.parts = parts[i : i+1]
			}
			turns, err := asked.turns(groupCtx)
			written[i], leftOut[i] = check.only(turns)
			if len(written[i]) == 0 && err == nil {
				err = errors.New("nothing of what it wrote stands in the report")
			}
			failed[i] = err
			return context.Cause(groupCtx)
		})
	}
	if err := group.Wait(); err != nil {
		return Script{}, err
	}
	s.Turns = []Turn{{Text: s.Title}}
	for i := range n {
		if whole && parts[i].title != "" {
			s.Turns = append(s.Turns, Turn{Text: parts[i].title})
		}
		s.LeftOut += leftOut[i]
		if failed[i] != nil {
			s.Fallbacks = append(s.Fallbacks, strings.TrimSpace("script "+parts[i].title)+": "+llm.Why(failed[i]))
		}
		switch {
		case len(written[i]) > 0:
			s.Turns = append(s.Turns, written[i]...)
		case whole:
			s.Turns = append(s.Turns, spoken(parts[i].paragraphs)...)
		default:
			s.Turns = append(s.Turns, overview(parts, texts.Conclusion.String(), r.Mode)...)
		}
	}
	s.Turns = slices.DeleteFunc(s.Turns, func(t Turn) bool { return !hasWord(t.Text) })
	return s, nil
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// overview is the opening of a report and its conclusion; of one without a conclusion its first section. Two voices
// take turns, after the title, which is the first one's.
func overview(parts []part, conclusion, mode string) []Turn {
	main := slices.Clone(parts[0].paragraphs)
	last := slices.IndexFunc(parts, func(p part) bool { return p.title == conclusion })
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

// spoken has the first voice say paragraphs.
func spoken(paragraphs []string) []Turn {
	turns := make([]Turn, len(paragraphs))
	for i, p := range paragraphs {
		turns[i].Text = p
	}
	return turns
}

// asking is a question for a script.
type asking struct {
	Writer
	report  Report
	parts   []part // that are shown
	title   string
	ordinal int
}

// shrinks is how often a report is halved until it fits the model's window.
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

// shown is the Markdown of sections: of each the first half of its paragraphs, a quarter, and so on. left: paragraphs
// that are not shown.
func shown(parts []part, shrink int) (markdown string, left int) {
	var out []string
	for _, p := range parts {
		if p.title != "" && len(parts) > 1 {
			out = append(out, "## "+p.title)
		}
		if p.source == "" {
			continue
		}
		blocks := blankLines.Split(p.source, -1)
		n := max(1, len(blocks)>>shrink)
		out = append(out, blocks[:n]...)
		left += len(blocks) - n
	}
	return strings.Join(out, "\n\n"), left
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n\s*`)

// turnsOf reads a script. Where only one of two voices has something to say, they take turns.
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

// figures are those that a report states.
type figures struct {
	words string
	known []quantity.Quantity
}

func newFigures(report []part) figures {
	var all []string
	for _, p := range report {
		all = append(all, p.title, p.source)
	}
	words := speakable(strings.Join(all, "\n"))
	return figures{words, quantity.Figures(words)}
}

// only returns turns without the sentences that have a figure which the report does not have, and how many these are.
func (f figures) only(turns []Turn) (out []Turn, leftOut int) {
	for _, t := range turns {
		var kept strings.Builder
		at := 0
		for _, s := range text.ParagraphSentences(t.Text) {
			if f.has(s.Text) {
				kept.WriteString(t.Text[at:s.End])
			} else {
				leftOut++
			}
			at = s.End
		}
		if words := strings.TrimSpace(kept.String()); words != "" {
			out = append(out, Turn{Voice: t.Voice, Text: words})
		}
	}
	return out, leftOut
}

// has reports whether every figure of a sentence that is written in digits stands in the report, in whatever unit.
func (f figures) has(sentence string) bool {
	for _, q := range quantity.Figures(sentence) {
		written := sentence[q.Start:q.End]
		if !strings.ContainsFunc(written, unicode.IsDigit) || f.writes(written) {
			continue
		}
		if !slices.ContainsFunc(f.known, func(k quantity.Quantity) bool { return quantity.Agree(k, q) }) {
			return false
		}
	}
	return true
}

// writes reports whether a figure stands in the report as it is written, and not as a part of a longer one.
func (f figures) writes(written string) bool {
	digit := func(s string, at int) bool { return at >= 0 && at < len(s) && s[at] >= '0' && s[at] <= '9' }
	for at := 0; ; {
		i := strings.Index(f.words[at:], written)
		if i < 0 {
			return false
		}
		start := at + i
		end := start + len(written)
		if !(digit(f.words, start-1) && digit(written, 0)) && !(digit(f.words, end) && digit(written, len(written)-1)) {
			return true
		}
		at = end
	}
}

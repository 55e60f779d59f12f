package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"nightdesk/topicqueue"
)

const (
	// writingShare is the part of a run's duration that is reserved for its report: a fifth, but at most mostWriting.
	// A report of a local model that writes 20 tokens a second takes about ten minutes, however long its research was.
	writingShare = 5
	mostWriting  = 15 * time.Minute
	// A block starts no new iteration after blockSoft, so that one slow source does not use up the time of the other
	// blocks in the default preset (45 minutes). After blockHard it ends with what it has.
	blockSoft = 12 * time.Minute
	blockHard = 30 * time.Minute
)

// RunOptions resolves preset and settings into the fixed options of one run. kb: its knowledge base; empty: none. A
// limit set by the user takes precedence over those of the preset and the strategy.
//
// The error is a Problems that lists the allowed values. Options.Tools is empty if there is nothing to search.
func (c Config) RunOptions(kb string) (topicqueue.Options, error) {
	c = c.clone()
	c.KBName = kb
	usePreset(&c, deskTable(&c))
	o := c.options()
	return o, limitSources(c, &o).err()
}

// With returns a copy of the configuration with overrides, for example for one topic of a list. asked: values by
// setting path; model settings are not allowed. The error is a Problems.
func (c Config) With(asked map[string]string) (Config, error) {
	c = c.clone()
	known := map[string]field{}
	for _, f := range deskTable(&c) {
		known[f.Path] = f
	}
	var problems Problems
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		f, ok := known[settingPath(path)]
		err := errors.New("it cannot be set here")
		if ok {
			err = f.set(strings.TrimSpace(asked[path]))
		}
		if err != nil {
			problems = append(problems, Problem{Key: path, Value: clip(asked[path]), Reason: err.Error()})
			continue
		}
		c.origins[f.Path] = origin{given: true, text: "asked for"}
	}
	return c, problems.err()
}

// options returns the options of a run with the current limits of c.
func (c Config) options() topicqueue.Options {
	o := topicqueue.Options{
		Preset:           c.Preset,
		Language:         primaryTag(c.Language),
		KnowledgeBase:    c.KBName,
		UserInfo:         c.UserInfo,
		Rephrase:         c.Planning.Rephrase.Enabled,
		DecomposeMode:    c.Planning.Decompose.Mode,
		SubTopics:        c.Planning.Decompose.InitialSubtopics,
		MaxParallel:      c.Researching.MaxParallelTopics,
		MaxIterations:    c.Researching.MaxIterations,
		MaxLoops:         c.Researching.MaxLoops,
		IterationMode:    c.Researching.IterationMode,
		NewTopicMinScore: c.Researching.NewTopicMinScore,
		Tools:            c.tools(),
		CitationStyle:    c.Reporting.CitationStyle,
		Pictures:         c.Reporting.Pictures,
		Length:           c.Reporting.Length,
		Audience:         c.Reporting.Audience,
		QuotedWords:      preset(c.Preset).QuotedWords,
		OnUnsupported:    c.Reporting.OnUnsupported,
		Formats:          reportFormats(c.Reporting.Formats),
		Audio:            audioMode(c.Reporting.Audio),
		Duration:         c.Limits.RunDuration,
		WritingTime:      min(c.Limits.RunDuration/writingShare, mostWriting),
		BlockSoft:        blockSoft,
		BlockHard:        blockHard,
		Budget:           c.Limits.RunBudget,
		NightBudget:      c.Limits.NightBudget,
	}
	if c.Preset == topicqueue.PathShallow || c.Preset == topicqueue.PathRoute { // a preset with the name of its path
		o.Path, o.MaxTurns, o.MaxToolCalls = c.Preset, c.Answering.MaxLLMTurns, c.Answering.MaxToolIterations
	}
	if o.Rephrase {
		o.RephraseIterations = c.Planning.Rephrase.MaxIterations
	}
	if o.DecomposeMode == topicqueue.DecomposeAuto {
		o.SubTopics = c.Planning.Decompose.AutoMaxSubtopics
	}
	useStrategy(c, &o)
	if c.Researching.ExecutionMode == executionSeries {
		o.MaxParallel = 1
	}
	o.QueueMaxLength = max(c.Queue.MaxLength, QueueLengthFor(o.SubTopics))
	return o
}

// QueueLengthFor returns the minimum queue length, in blocks, for a number of sub-topics. It leaves room for topics
// that research discovers.
func QueueLengthFor(subTopics int) int { return subTopics + max(2, subTopics/2) }

// primaryTag returns the base language of a valid tag: pt of pt-BR.
func primaryTag(tag string) string {
	base, _ := language.Make(tag).Base()
	return base.String()
}

const formatsAllowed = "some of html, docx with commas between them; md: Markdown alone"

// reportFormats returns the report formats other than Markdown, without duplicates.
func reportFormats(list string) []string {
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(list), ",") {
		if name = strings.TrimSpace(name); name != "" && name != "md" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func checkFormats(list string) error {
	for _, name := range reportFormats(list) {
		if name != "html" && name != "docx" {
			return fmt.Errorf("%q is not a format; use %s", clip(name), formatsAllowed)
		}
	}
	return nil
}

// Strategies: the trade-off between breadth and depth of a run.
const (
	strategyExploratory = "exploratory" // broad: more sub-topics and discoveries, less time for each
	strategyBalanced    = "balanced"    // as in the preset
	strategyFocused     = "focused"     // deep: fewer sub-topics, more time for each
)

var strategyNames = []string{strategyExploratory, strategyBalanced, strategyFocused}

// strategy holds the changes that a strategy makes to a preset.
type strategy struct {
	subTopics, iterations float64 // factors
	minScore              float64 // for discovered topics
	actions               int     // tool calls of one iteration; 0: as many as usual
}

var strategies = map[string]strategy{
	strategyExploratory: {subTopics: 1.5, iterations: 0.75, minScore: 0.75, actions: 5},
	strategyFocused:     {subTopics: 0.6, iterations: 1.5, minScore: 0.92},
}

// useStrategy adjusts breadth and depth of a run, except for settings made by the user. c: with the preset's values.
func useStrategy(c Config, o *topicqueue.Options) {
	s, ok := strategies[c.Researching.Strategy]
	if !ok {
		return
	}
	o.Strategy = c.Researching.Strategy
	subTopics := "planning.decompose.initial_subtopics"
	if o.DecomposeMode == topicqueue.DecomposeAuto {
		subTopics = "planning.decompose.auto_max_subtopics"
	}
	if !c.Given(subTopics) {
		o.SubTopics = scaled(o.SubTopics, s.subTopics)
	}
	if !c.Given("researching.max_iterations") {
		o.MaxIterations = scaled(o.MaxIterations, s.iterations)
	}
	if !c.Given("researching.new_topic_min_score") {
		o.NewTopicMinScore = s.minScore
	}
	o.MaxActions = s.actions
}

// scaled multiplies a limit. Increases are rounded up, decreases to the nearest integer but at least 1.
func scaled(n int, factor float64) int {
	x := float64(n) * factor
	if factor > 1 {
		return int(math.Ceil(x))
	}
	return max(1, int(math.Round(x)))
}

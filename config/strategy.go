package config

import (
	"math"

	"nightdesk/topicqueue"
)

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

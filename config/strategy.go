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

// strategy holds the changes that a strategy makes to a preset.
type strategy struct {
	subTopics, iterations, actions float64 // factors
	minScore                       float64 // for discovered topics
}

var strategies = map[string]strategy{
	strategyExploratory: {subTopics: 1.5, iterations: 0.75, actions: 1.5, minScore: 0.75},
	strategyFocused:     {subTopics: 0.6, iterations: 1.5, actions: 1, minScore: 0.92},
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
	if !c.Given("researching.max_actions") && s.actions != 1 {
		o.MaxActions = scaled(c.Researching.MaxActions, s.actions)
	}
}

// scaled multiplies a limit. Increases are rounded up, decreases to the nearest integer but at least 1.
func scaled(n int, factor float64) int {
	x := float64(n) * factor
	if factor > 1 {
		return int(math.Ceil(x))
	}
	return max(1, int(math.Round(x)))
}

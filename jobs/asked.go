package jobs

import (
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// askedCall is a kind of call that a run makes of its models: what `enqueue` estimates, and what a run keeps money
// for. Lengths are those that TestCallsOfARun counts, which holds them against it, in characters.
type askedCall struct {
	role     llm.Role
	times    int // where they are made, all at once
	question int // with the schema of the answer
	answer   int
}

const (
	charsPerToken = 4
	schema        = 800 // of an answer
	bigSchema     = 1000
	// evidenceOfIteration is the length of the statements that one iteration finds.
	evidenceOfIteration = 1_262
)

// planCalls are those of planning so many sub-topics.
func planCalls(o topicqueue.Options, blocks int) []askedCall {
	var calls []askedCall
	if o.Attached != "" {
		calls = append(calls, summarizeCall)
	}
	if o.Path == topicqueue.PathShallow || len(o.Plan) > 0 {
		return calls
	}
	if o.HumanInTheLoop {
		calls = append(calls, clarifyCall)
	}
	calls = append(calls, askedCall{llm.Planner, 1, 6_110 + 1_040*min(blocks, 5) + bigSchema, 240 * blocks}) // decompose
	if o.DecomposeMode == topicqueue.DecomposeManual && blocks > 1 {
		calls = append(calls, askedCall{llm.Planner, 1, 1_790 + schema, 24 + 48*blocks}) // queries for the background
	}
	if o.Path == topicqueue.PathRoute {
		calls = append(calls, askedCall{llm.Planner, 1, 2_300 + schema, 150})
	}
	if o.Rephrase {
		for range max(1, o.RephraseIterations) {
			calls = append(calls, askedCall{llm.Planner, 1, 2_500, 1_500})
		}
	}
	return calls
}

// summarizeCall says in a paragraph each what the attached documents are about.
var summarizeCall = askedCall{llm.Planner, 1, 14_000 + schema, 2_000}

// clarifyCall decides whether the user has to be asked what is meant.
var clarifyCall = askedCall{llm.Planner, 1, 4_500 + schema, 200}

// answerCalls are those of a run that is answered in one conversation: it searches, opens or searches again, and
// answers. What was found stands in each question that follows.
var answerCalls = []askedCall{
	{llm.Writer, 1, 5_000, 120}, {llm.Writer, 1, 5_000 + foundByCall, 120}, {llm.Writer, 1, 5_000 + 2*foundByCall,
		1_400},
}

// foundByCall is the length of what one search shows to the model that called it.
const foundByCall = 6_000

// noteCall reads what the tools of an iteration have returned.
var noteCall = askedCall{llm.Note, 1, 6_740 + schema, 2_750}

// decideCall says what an iteration asks, in a run that has so many iterations in all: what a block has found stands in
// it, half of it on the average. The first iteration of a block asks what was planned.
func decideCall(work int) askedCall {
	return askedCall{llm.Researcher, 1, 6_650 + 63*work + schema, 240}
}

// reviewCall looks for gaps in so much evidence.
func reviewCall(evidence int) askedCall {
	return askedCall{llm.Planner, 1, 4_600 + evidence + bigSchema, 1_030}
}

// mostSections are as many as an outline has, however many blocks there are.
const mostSections = 6

// evidenceOfSentence is about how much evidence a sentence of a report stands for.
const evidenceOfSentence = 1_000

// judgeCall checks the sentences of a report with so much evidence: each call has room for so many. A run keeps no
// money for it: without it, sentences stay unverified.
func judgeCall(evidence int) askedCall {
	calls := 1 + evidence/(evidenceOfSentence*judging.MostSentences)
	return askedCall{llm.Judge, calls, 2_750 + 5*evidence/calls/8 + schema, 300 + evidence/calls/4}
}

// reportCalls are those of a report from so many blocks with so much evidence.
func reportCalls(blocks, evidence int) []askedCall {
	sections := min(blocks, mostSections)
	per := func(charsOfAnIteration int) int { return charsOfAnIteration * evidence / evidenceOfIteration }
	return []askedCall{
		{llm.Writer, 1, 3_880 + per(1_183) + bigSchema, 150 * sections}, // outline
		{llm.Writer, sections, 3_580 + evidence/sections, min(sectionLength, evidence*3/2/sections)},
		{llm.Writer, 1, 4_000 + 660*sections, 2_400}, // introduction and conclusion
	}
}

// sectionLength is about how long a section of a report is at most, in characters.
const sectionLength = 4_000

// scriptCall writes what is read aloud of a report with so many sections, see narration.Writer: a run keeps no money
// for it. Of the whole report each section is written anew, introduction and conclusion too.
func scriptCall(mode string, sections int) askedCall {
	if mode == topicqueue.AudioExtended {
		return askedCall{llm.Writer, min(sections, mostSections) + 2, 4_000 + sectionLength, sectionLength}
	}
	return askedCall{llm.Writer, 1, 4_000 + (min(sections, mostSections)+1)*sectionLength, 3_500}
}

// tokens of one call: of the question and of the answer.
type tokens struct{ in, out int }

// Experience is what calls of each role have taken in a desk, by the models that it has now.
type Experience map[llm.Role]taken

// taken is what calls of one role have taken on the average, and the longest answer beyond its limit; 0: none was.
type taken struct {
	tokens
	longest int
}

// ExperienceOf takes it from the figures of a desk. model returns the model of a role.
func ExperienceOf(figures []redisqueue.ModelStats, model func(llm.Role) string) Experience {
	x := Experience{}
	for _, m := range figures {
		if role := llm.Role(m.Role); m.Calls > 0 && m.TokensOut > 0 && m.Model == model(role) {
			x[role] = taken{tokens{int(m.TokensIn / m.Calls), int(m.TokensOut / m.Calls)}, int(m.Longest)}
		}
	}
	return x
}

// usual is what most answers of a role stay below, in tokens.
func (x Experience) usual(role llm.Role) int {
	seen, ok := x[role]
	switch {
	case !ok:
		return usualAnswer
	case seen.longest > 0:
		return seen.longest
	}
	return max(leastAnswer, aboveAverage*seen.out)
}

// tokens returns what a call takes. Answers are as long as those of its role were; so are the questions of notes,
// which are what tools answer. Other questions are as long as the run is.
func (x Experience) tokens(c askedCall) tokens {
	t := tokens{c.question / charsPerToken, c.answer / charsPerToken}
	if seen, ok := x[c.role]; ok {
		t.out = seen.out
		if c.role == llm.Note {
			t.in = seen.in
		}
	}
	return t
}

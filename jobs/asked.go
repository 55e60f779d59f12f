package jobs

import (
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// askedCall is a kind of model call that a run makes. `enqueue` estimates these calls, and a run keeps money for them.
// Lengths are in characters, as TestCallsOfARun counts and checks them.
type askedCall struct {
	role     llm.Role
	times    int // number of calls, made in parallel
	question int // including the schema of the answer
	answer   int
}

const (
	charsPerToken = 4
	schema        = 800 // length of an answer's schema
	bigSchema     = 1000
	// evidenceOfIteration is the length of the statements that one iteration finds.
	evidenceOfIteration = 1_262
)

// planCalls returns the calls for planning this many sub-topics.
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

// summarizeCall summarizes each attached document in a paragraph.
var summarizeCall = askedCall{llm.Planner, 1, 14_000 + schema, 2_000}

// clarifyCall decides whether to ask the user what is meant.
var clarifyCall = askedCall{llm.Planner, 1, 4_500 + schema, 200}

// answerCalls are the calls of a run that is answered in one conversation. It searches, then opens a page or searches
// again, and then answers. Each further question contains the earlier results.
var answerCalls = []askedCall{
	{llm.Writer, 1, 5_000, 120}, {llm.Writer, 1, 5_000 + foundByCall, 120}, {llm.Writer, 1, 5_000 + 2*foundByCall,
		1_400},
}

// foundByCall is the length of a search result as shown to the model.
const foundByCall = 6_000

// noteCall reads the results of an iteration's tools.
var noteCall = askedCall{llm.Note, 1, 6_740 + schema, 2_750}

// decideCall chooses the next query of an iteration, in a run with work iterations in total. Its prompt contains the
// findings of the block, on average half of them. The first iteration of a block uses the planned query.
func decideCall(work int) askedCall {
	return askedCall{llm.Researcher, 1, 6_650 + 63*work + schema, 240}
}

// reviewCall looks for gaps in this much evidence.
func reviewCall(evidence int) askedCall {
	return askedCall{llm.Planner, 1, 4_600 + evidence + bigSchema, 1_030}
}

// mostSections is the maximum number of sections in an outline, for any number of blocks.
const mostSections = 6

// evidenceOfSentence is the approximate amount of evidence per sentence of a report.
const evidenceOfSentence = 1_000

// judgeCall checks the sentences of a report with this much evidence; each call has room for a limited number of
// sentences. A run keeps no money for it: without the check, sentences stay unverified.
func judgeCall(evidence int) askedCall {
	calls := 1 + evidence/(evidenceOfSentence*judging.MostSentences)
	return askedCall{llm.Judge, calls, 2_750 + 5*evidence/calls/8 + schema, 300 + evidence/calls/4}
}

// reportCalls returns the calls for a report on this many blocks with this much evidence.
func reportCalls(blocks, evidence int) []askedCall {
	sections := min(blocks, mostSections)
	per := func(charsOfAnIteration int) int { return charsOfAnIteration * evidence / evidenceOfIteration }
	return []askedCall{
		{llm.Writer, 1, 3_880 + per(1_183) + bigSchema, 150 * sections}, // outline
		{llm.Writer, sections, 3_580 + evidence/sections, min(sectionLength, evidence*3/2/sections)},
		{llm.Writer, 1, 4_000 + 660*sections, 2_400}, // introduction and conclusion
	}
}

// sectionLength is the approximate maximum length of a report section, in characters.
const sectionLength = 4_000

// scriptCall writes the narration script of a report with this many sections, see narration.Writer. A run keeps no
// money for it. In extended mode, every section, the introduction and the conclusion are rewritten.
func scriptCall(mode string, sections int) askedCall {
	if mode == topicqueue.AudioExtended {
		return askedCall{llm.Writer, min(sections, mostSections) + 2, 4_000 + sectionLength, sectionLength}
	}
	return askedCall{llm.Writer, 1, 4_000 + (min(sections, mostSections)+1)*sectionLength, 3_500}
}

// tokens are the question and answer tokens of one call.
type tokens struct{ in, out int }

// Experience holds the average usage of calls per role, with the models that the installation uses now.
type Experience map[llm.Role]taken

// taken is the average usage of calls of one role, and the longest answer that exceeded its limit; 0: none did.
type taken struct {
	tokens
	longest int
}

// ExperienceOf computes Experience from an installation's figures. model returns the model of a role.
func ExperienceOf(figures []redisqueue.ModelStats, model func(llm.Role) string) Experience {
	x := Experience{}
	for _, m := range figures {
		if role := llm.Role(m.Role); m.Calls > 0 && m.TokensOut > 0 && m.Model == model(role) {
			x[role] = taken{tokens{int(m.TokensIn / m.Calls), int(m.TokensOut / m.Calls)}, int(m.Longest)}
		}
	}
	return x
}

// usual returns a length in tokens that most answers of a role do not exceed.
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

// tokens returns the expected tokens of a call. Answers are as long as past answers of the role. Questions of notes are
// as long as past ones, because they are tool results. Other questions depend on the size of the run.
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

// Package forecast knows which model calls a run will probably make, how long they are, and what they cost. It is pure:
// `enqueue` asks it before a run exists, and a run with a budget asks it what to keep for its report.
//
// Entry points: [Run] and [Experience].
package forecast

import (
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Call is a kind of model call that a run makes. `enqueue` estimates these calls, and a run keeps money for them.
// Lengths are in characters, as TestCallsOfARun counts and checks them.
type Call struct {
	Role     llm.Role
	Times    int // number of calls, made in parallel
	question int // including the schema of the answer
	answer   int
}

const (
	charsPerToken = 4
	schema        = 800 // length of an answer's schema
	bigSchema     = 1000
	hugeSchema    = 1900
	// EvidenceOfIteration is the length of the statements that one iteration finds.
	EvidenceOfIteration = 1_262
)

// Plan returns the calls for planning this many sub-topics.
func Plan(o topicqueue.Options, blocks int) []Call {
	var calls []Call
	if o.Path == topicqueue.PathShallow || len(o.Plan) > 0 {
		return calls
	}
	if o.HumanInTheLoop {
		calls = append(calls, clarify)
	}
	calls = append(calls, Call{llm.Planner, 1, 6_110 + 1_040*min(blocks, 5) + bigSchema, 240 * blocks}) // decompose
	if o.Path == topicqueue.PathRoute {
		calls = append(calls, Call{llm.Planner, 1, 2_300 + schema, 150})
	}
	if o.Rephrase {
		for range max(1, o.RephraseIterations) {
			calls = append(calls, Call{llm.Planner, 1, 2_500, 1_500})
		}
	}
	return calls
}

// clarify decides whether to ask the user what is meant.
var clarify = Call{llm.Planner, 1, 4_500 + schema, 200}

// Answer are the calls of a run that is answered in one conversation. It searches, then opens a page or searches
// again, and then answers. Each further question contains the earlier results.
var Answer = []Call{
	{llm.Writer, 1, 5_000, 120}, {llm.Writer, 1, 5_000 + foundByCall, 120}, {llm.Writer, 1, 5_000 + 2*foundByCall,
		1_400},
}

// foundByCall is the length of a search result as shown to the model.
const foundByCall = 6_000

// Note reads the results of an iteration's tools.
var Note = Call{llm.Note, 1, 6_950 + schema, 2_830}

// FirstNote is the first note of a block, which also reads background of planning.
var FirstNote = Call{llm.Note, 1, 6_950 + 4_400 + schema, 2_830}

// Decide chooses the next query of an iteration, in a run with work iterations in total. Its prompt contains the
// findings of the block, on average half of them. The first iteration of a block uses the planned query.
func Decide(work int) Call {
	return Call{llm.Researcher, 1, 6_230 + 63*work + schema, 240}
}

// Review looks for gaps in this much evidence.
func Review(evidence int) Call {
	return Call{llm.Planner, 1, 4_600 + evidence + bigSchema, 1_030}
}

// mostSections is the maximum number of sections in an outline, for any number of blocks.
const mostSections = 6

// Judge checks the sentences of a report with this much evidence, in calls of limited length. A run keeps no money for
// it: without the check, sentences stay unverified.
func Judge(evidence int) Call {
	calls := 1 + evidence/judging.CallBytes
	return Call{llm.Judge, calls, 8_600 + 5*evidence/calls/8 + schema, 100 + evidence/calls/16}
}

// Report returns the calls for a report on this many blocks with this much evidence.
func Report(blocks, evidence int) []Call {
	sections := min(blocks, mostSections)
	per := func(charsOfAnIteration int) int { return charsOfAnIteration * evidence / EvidenceOfIteration }
	outline := Call{llm.Writer, 1, 5_950 + per(1_225) + hugeSchema, 180 * sections}
	length := min(sectionLength, evidence*3/2/sections)
	if evidence <= reporting.OneCall {
		return []Call{outline, {llm.Writer, 1, 3_500 + per(1_316), sections*length + 2_400}}
	}
	return []Call{outline,
		{llm.Writer, sections, 4_520 + evidence/sections, length},
		{llm.Writer, 1, 4_900 + 660*sections, 2_400}, // opening and conclusion
	}
}

// sectionLength is the approximate maximum length of a report section, in characters.
const sectionLength = 4_000

// script writes the narration script of a report with this many sections, see narration.Writer. A run keeps no
// money for it. In extended mode, every section, the introduction and the conclusion are rewritten.
func script(mode string, sections int) Call {
	if mode == topicqueue.AudioExtended {
		return Call{llm.Writer, min(sections, mostSections) + 2, 4_000 + sectionLength, sectionLength}
	}
	return Call{llm.Writer, 1, 4_000 + (min(sections, mostSections)+1)*sectionLength, 3_500}
}

// Tokens are the question and answer tokens of one call.
type Tokens struct{ In, Out int }

// Experience holds the average usage of calls per role, with the models that the installation uses now.
type Experience map[llm.Role]taken

// taken is the average usage of calls of one role, and the longest answer that exceeded its limit; 0: none did.
type taken struct {
	Tokens
	longest int
}

// ExperienceOf computes Experience from an installation's figures. model returns the model of a role.
func ExperienceOf(figures []redisqueue.ModelStats, model func(llm.Role) string) Experience {
	x := Experience{}
	for _, m := range figures {
		if role := llm.Role(m.Role); m.Calls > 0 && m.TokensOut > 0 && m.Model == model(role) {
			x[role] = taken{Tokens{int(m.TokensIn / m.Calls), int(m.TokensOut / m.Calls)}, int(m.Longest)}
		}
	}
	return x
}

// Tokens of answers without experience, see redisqueue.Reservation.
const (
	usualAnswer  = 2000 // upper bound for most answers
	aboveAverage = 3    // upper bound for most answers, as a multiple of the average of their role
	LeastAnswer  = 256  // a call with a smaller limit is hardly worth making
)

// Usual returns a length in tokens that most answers of a role do not exceed.
func (x Experience) Usual(role llm.Role) int {
	seen, ok := x[role]
	switch {
	case !ok:
		return usualAnswer
	case seen.longest > 0:
		return seen.longest
	}
	return max(LeastAnswer, aboveAverage*seen.Out)
}

// Unlimited reports whether answers of a role have exceeded the limit that they were given.
func (x Experience) Unlimited(role llm.Role) bool { return x[role].longest > 0 }

// Tokens returns the expected tokens of a call. Answers are as long as past answers of the role. Questions of notes are
// as long as past ones, because they are tool results. Other questions depend on the size of the run.
func (x Experience) Tokens(c Call) Tokens {
	t := Tokens{c.question / charsPerToken, c.answer / charsPerToken}
	if seen, ok := x[c.Role]; ok {
		t.Out = seen.Out
		if c.Role == llm.Note {
			t.In = seen.In
		}
	}
	return t
}

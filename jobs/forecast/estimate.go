package forecast

import (
	"cmp"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
)

// Estimate is the expected model usage of a run, or the sum of several runs.
type Estimate struct {
	Calls int // with one tool call per iteration and no discovered sub-topics
	// if the queue fills up and every iteration makes all its tool calls; without retries
	Most   int
	Tokens map[llm.Role][2]int64 // of questions and of answers, for Calls
	Chain  time.Duration         // duration of sequential calls: a lower bound for the run time
	Busy   time.Duration         // total duration of all calls

	iteration time.Duration // duration of the longest iteration, as assumed in Chain and Busy
}

// Assumptions lists the assumptions of Run, for users. The numbers of calls follow from the options.
var Assumptions = []string{
	"as many sub-topics and iterations as the preset has at most",
	"one tool call per iteration; no discovered sub-topics; reviews find no gaps",
	"English (4 characters a token), questions as long as those of measured runs",
}

// Further assumptions, without figures from this installation.
const (
	AssumedLengths = "tool results of 4,000 characters, notes of 2,750 (eight claims), sections of 4,000"
	AssumedPace    = "model latency 1 s, 50 tokens/s"
)

// Token speed, unless it was measured.
const (
	tokensPerSecond = 50
	firstToken      = time.Second
)

// Run returns the expected model usage of a run with these options. It is a pure function. seen: averages of past
// calls of this installation; nil: unknown.
func Run(o topicqueue.Options, seen Experience) Estimate {
	if o.Path == topicqueue.PathShallow {
		return estimateAnswer(o, seen)
	}
	blocks, iterations, reviews := max(1, o.SubTopics), max(1, o.MaxIterations), 1
	parallel := min(blocks, max(1, o.MaxParallel))
	inLine := (blocks + parallel - 1) / parallel * iterations
	work := blocks * iterations
	e := Estimate{Tokens: map[llm.Role][2]int64{}}
	add := func(times, inLine int, calls ...Call) { e.calls(seen, times, inLine, calls...) }
	add(1, 1, Plan(o, blocks)...)
	add(work-blocks, inLine-inLine/iterations, Decide(work))
	add(blocks, inLine/iterations, FirstNote)
	add(work-blocks, inLine-inLine/iterations, Note)
	e.iteration = duration(seen.Tokens(Decide(work))) + duration(seen.Tokens(Note))
	add(reviews, reviews, Review(work*EvidenceOfIteration))
	add(1, 1, Report(blocks, work*EvidenceOfIteration)...)
	add(1, 1, Judge(work*EvidenceOfIteration))
	if o.Audio != topicqueue.AudioNone {
		add(1, 1, script(o.Audio, blocks))
	}
	all := max(blocks, o.QueueMaxLength)
	actions := cmp.Or(o.MaxActions, researching.DefaultMaxActions)
	e.Most = e.Calls + all*iterations*(1+actions) - 2*work + all + o.MaxLoops
	return e
}

// calls adds calls that are made times times; inLine of these are sequential.
func (e *Estimate) calls(seen Experience, times, inLine int, calls ...Call) {
	for _, c := range calls {
		n, t, sum := times*c.Times, seen.Tokens(c), e.Tokens[c.Role]
		e.Calls += n
		e.Tokens[c.Role] = [2]int64{sum[0] + int64(n*t.In), sum[1] + int64(n*t.Out)}
		took := duration(t)
		e.Chain += time.Duration(inLine) * took
		e.Busy += time.Duration(n) * took
	}
}

// estimateAnswer is Run for a run that is answered in one conversation.
func estimateAnswer(o topicqueue.Options, seen Experience) Estimate {
	e := Estimate{Tokens: map[llm.Role][2]int64{}}
	e.calls(seen, 1, 1, Plan(o, 1)...)
	e.calls(seen, 1, 1, Answer...)
	e.calls(seen, 1, 1, Judge(EvidenceOfIteration))
	if o.Audio != topicqueue.AudioNone {
		e.calls(seen, 1, 1, script(o.Audio, 1))
	}
	e.Most = max(e.Calls, len(Plan(o, 1))+o.MaxTurns+1)
	return e
}

// duration returns the assumed duration of a call that was not measured.
func duration(t Tokens) time.Duration {
	return firstToken + time.Duration(t.Out)*time.Second/tokensPerSecond
}

// AtPace scales the estimate to an average duration of an iteration; 0: unknown, no scaling.
func (e Estimate) AtPace(iteration time.Duration) Estimate {
	if iteration > 0 && e.iteration > 0 {
		factor := float64(iteration) / float64(e.iteration)
		e.Chain, e.Busy = time.Duration(factor*float64(e.Chain)), time.Duration(factor*float64(e.Busy))
	}
	return e
}

// Add adds the usage of another run. Runs are processed in parallel, so Chain becomes the maximum.
func (e *Estimate) Add(run Estimate) {
	e.Calls, e.Most, e.Busy, e.Chain = e.Calls+run.Calls, e.Most+run.Most, e.Busy+run.Busy, max(e.Chain, run.Chain)
	e.iteration = max(e.iteration, run.iteration)
	if e.Tokens == nil {
		e.Tokens = map[llm.Role][2]int64{}
	}
	for role, t := range run.Tokens {
		sum := e.Tokens[role]
		e.Tokens[role] = [2]int64{sum[0] + t[0], sum[1] + t[1]}
	}
}

// Took returns the duration of the runs if atOnce calls are made in parallel.
func (e Estimate) Took(atOnce int) time.Duration {
	return max(e.Chain, e.Busy/time.Duration(max(1, atOnce)))
}

// Amount returns the cost of the runs, in the unit of the given budget. It returns false if a price is
// unknown.
func (e Estimate) Amount(unit topicqueue.Budget, prices llm.Prices,
	models map[llm.Role]string) (topicqueue.Budget, bool) {
	if !unit.Money() {
		sum := int64(0)
		for _, t := range e.Tokens {
			sum += t[0] + t[1]
		}
		return topicqueue.Budget{Tokens: sum}, true
	}
	usd, unpriced := e.Cost(prices, models)
	return topicqueue.Budget{USD: usd}, len(unpriced) == 0
}

// Times returns the estimate of n runs like this one.
func (e Estimate) Times(n int) (out Estimate) {
	for range n {
		out.Add(e)
	}
	return out
}

// Cost returns the cost of the tokens in USD, and the models without a known price, whose tokens it excludes. models:
// model by role.
func (e Estimate) Cost(prices llm.Prices, models map[llm.Role]string) (usd float64, unpriced []string) {
	seen := map[string]bool{}
	for _, role := range []llm.Role{llm.Planner, llm.Researcher, llm.Note, llm.Writer, llm.Judge} {
		t, model := e.Tokens[role], models[role]
		if t == [2]int64{} {
			continue
		}
		cost, known := prices.Cost(topicqueue.Usage{Model: model, PromptTokens: int(t[0]), CompletionTokens: int(t[1])})
		if !known && !seen[model] {
			unpriced = append(unpriced, model)
		}
		seen[model] = true
		usd += cost
	}
	return usd, unpriced
}

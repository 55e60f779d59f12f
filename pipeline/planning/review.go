package planning

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	// reviewShrinks is the maximum number of attempts at a review: with all claims, then with half of those of each
	// block, and so on, until they fit the model's window.
	reviewShrinks = 6
	maxGaps       = 3 // per review
	maxOpen       = 6
	maxDraft      = 4000 // bytes of a draft, which is asked for in about 150 words
	maxFailure    = 200
	maxSource     = 120 // bytes of a source's name, and of its label
	maxBeginning  = 200
)

// Reviewer compares the evidence of runs with their plans. Its fields must not change after the first call. Review is
// safe for concurrent use.
type Reviewer struct {
	Model llm.Model // nil: no review, see Review
	// Draft makes the model first draft an answer to the topic and then name what the draft could not say. It needs a
	// context window of at least 32,000 tokens.
	Draft bool
}

// Evidence is the input of a review.
type Evidence struct {
	Topic  string          // as researched
	Blocks []BlockEvidence // all blocks of the run in order; each has ended
	Room   int             // number of blocks that the remaining time allows; negative: no limit
	// Last is the previous review, zero: none. It stays valid if there is no room for another block.
	Last topicqueue.Review
	// Unread holds the first passage of each document of the knowledge base without a claim.
	Unread []topicqueue.Source
	// Closed means that no block may be added: the review only compares the evidence.
	Closed bool
}

// BlockEvidence is a block with its evidence.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Review returns the blocks that a run still needs, the claims that contradict each other, and open points. It adds at
// most three blocks, within the room of the queue and the remaining time, and no duplicates.
//
// If there is no time for a block, or the evidence is Closed and the same as in the last review, it does not call the
// model. Without a model it
// returns an empty review: blocks have already asked everything that follows from the plan and their claims, and no
// rule finds better questions. If the model fails, NotDone of the review has the reason. The error is the cause of
// ctx's end.
func (r *Reviewer) Review(ctx context.Context, run topicqueue.Run, e Evidence) (topicqueue.Review, error) {
	if r.Model == nil {
		return topicqueue.Review{}, nil
	}
	room := run.Options.QueueMaxLength - len(e.Blocks)
	if e.Room >= 0 {
		room = min(room, e.Room)
	}
	switch {
	case e.Closed && e.compared():
		return e.Last.Standing(""), nil
	case e.Closed:
		room = 0
	case e.Room == 0:
		return e.Last.Standing("the remaining time is too short for a block"), nil
	}
	room = max(0, room)
	claimed := claimsOf(e)
	answer, err := r.ask(ctx, run, e, min(maxGaps, room))
	if ctx.Err() != nil {
		return topicqueue.Review{}, context.Cause(ctx)
	}
	if err != nil {
		return e.Last.Standing(topicqueue.Clip(topicqueue.OneLine(err.Error()), maxReason)), nil
	}
	var review topicqueue.Review
	review.Gaps, review.Open = gaps(run, e, answer.Gaps, min(maxGaps, room))
	for _, point := range answer.Open {
		point = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(point)), maxReason)
		if point != "" && len(review.Open) < maxOpen {
			review.Open = append(review.Open, point)
		}
	}
	for _, b := range e.Blocks {
		if claims(b) > 0 {
			review.Blocks = append(review.Blocks, b.Block.ID)
		}
	}
	review.Contradictions = contradictions(claimed, answer.Contradictions)
	review.Draft = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(answer.Draft)), maxDraft)
	return review, nil
}

// compared reports whether the last review of this run saw all claims.
func (e Evidence) compared() bool {
	return !e.Last.Earlier && !slices.ContainsFunc(e.Blocks, func(b BlockEvidence) bool {
		return claims(b) > 0 && !slices.Contains(e.Last.Blocks, b.Block.ID)
	})
}

// contradictions returns the distinct valid pairs that the model named: two claims of the run from different sources.
func contradictions(claims []evidence.Claim, named []prompts.ReviewedPair) (pairs []topicqueue.Contradiction) {
	known := func(number int) bool { return number >= 1 && number <= len(claims) }
	told := map[[2]int]bool{}
	for _, p := range named {
		key := [2]int{min(p.A, p.B), max(p.A, p.B)}
		if !known(p.A) || !known(p.B) || told[key] || len(pairs) == prompts.MaxContradictions {
			continue
		}
		a, b := claims[p.A-1], claims[p.B-1]
		if a.Source.ID == b.Source.ID {
			continue
		}
		told[key] = true
		pairs = append(pairs, topicqueue.Contradiction{A: a.ID, B: b.ID,
			Why: topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(p.Why)), maxReason)})
	}
	return pairs
}

// ask asks for a review with as much evidence as the model's window allows.
func (r *Reviewer) ask(
	ctx context.Context, run topicqueue.Run, e Evidence, most int,
) (answer prompts.ReviewAnswer, err error) {
	for shrink := range reviewShrinks {
		data := prompts.ReviewData{Topic: e.Topic, MaxGaps: most, Draft: r.Draft}
		if shrink == 0 { // dropped first
			data.Unread = unread(e.Unread)
		}
		number, listed, said := 1, map[[2]string]bool{}, evidence.Statements(claimsOf(e))
		for _, b := range e.Blocks {
			data.Blocks = append(data.Blocks, reviewed(b, claims(b)>>shrink, number, said, listed))
			number += claims(b)
		}
		prompt := prompts.Review(run.Options.Language, data)
		answer, err = llm.Ask[prompts.ReviewAnswer](ctx, r.Model, llm.Request{
			Position: llm.Position{RunID: run.ID, Stage: "reviewing", Step: prompt.Name, Ordinal: shrink}, Role: llm.Planner,
			Prompt: prompt,
		})
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	return answer, err
}

// unread converts documents without a claim for the prompt.
func unread(first []topicqueue.Source) (list []prompts.UnreadDocument) {
	for _, s := range first {
		list = append(list, prompts.UnreadDocument{
			Title:     topicqueue.Clip(s.Name(), maxSource),
			Label:     topicqueue.Clip(s.Label(), maxSource),
			Beginning: topicqueue.Clip(topicqueue.OneLine(s.Text), maxBeginning),
		})
	}
	return list
}

// claimsOf returns all claims of a run with their sources. A review refers to them by position, counted from 1.
func claimsOf(e Evidence) (list []evidence.Claim) {
	for _, b := range e.Blocks {
		list = append(list, evidence.Collect(b.Traces, b.Block.ID)...)
	}
	return list
}

func claims(b BlockEvidence) int {
	n := 0
	for _, t := range b.Traces {
		n += len(t.Claims)
	}
	return n
}

// reviewed converts a block for the prompt, with n of its claims in the order found. It takes claims of each source in
// turn, so that every source is represented. number is the number of its first claim. said holds the statements of all
// claims; those of a source in listed are not repeated, and reviewed adds those of this block.
func reviewed(b BlockEvidence, n, number int, said []string, listed map[[2]string]bool) prompts.ReviewBlock {
	shown := make([]int, len(b.Traces)) // claims shown of each trace
	out := prompts.ReviewBlock{ID: b.Block.ID, Title: b.Block.Title, Overview: b.Block.Overview,
		Trouble: trouble(b.Block), Left: claims(b) - n}
	for turn := 0; n > 0; turn++ {
		for i, t := range b.Traces {
			if turn < len(t.Claims) && n > 0 {
				shown[i]++
				n--
			}
		}
	}
	for i, t := range b.Traces {
		for k, c := range t.Claims[:shown[i]] {
			what := [2]string{t.Source.ID + c.Quote, said[number+k-1]}
			if c.Quote != "" && listed[what] {
				continue
			}
			listed[what] = true
			line := prompts.PlaceClaim{Number: number + k, Text: c.Text, Source: sourceOf(t.Source)}
			out.Claims = append(out.Claims, line)
		}
		number += len(t.Claims)
	}
	return out
}

// sourceOf describes a source with its publisher and date.
func sourceOf(s topicqueue.Source) string {
	line := topicqueue.Clip(s.Name(), maxSource)
	if label := s.Label(); label != "" {
		line += " (" + topicqueue.Clip(label, maxSource) + ")"
	}
	return line
}

// trouble returns why a block has less than planned.
func trouble(b topicqueue.Block) string {
	reason := topicqueue.Clip(topicqueue.OneLine(b.Reason), maxFailure)
	if b.Status == topicqueue.BlockFailed {
		return strings.TrimSuffix("failed: "+reason, ": ")
	}
	return reason
}

// gaps converts proposed blocks by the rules of the queue. open: proposals without room.
func gaps(
	run topicqueue.Run, e Evidence, answers []prompts.ReviewGap, most int,
) (out []topicqueue.SubTopic, open []string) {
	var known []topicqueue.BlockTitle
	asked := map[string]bool{}
	for _, b := range e.Blocks {
		known = append(known, topicqueue.BlockTitle{ID: b.Block.ID, Title: b.Block.Title})
		for _, q := range b.Block.Queries {
			asked[topicqueue.CanonicalQuery(q)] = true
		}
		for _, t := range b.Traces {
			asked[topicqueue.CanonicalQuery(t.Query)] = true
		}
	}
	proposals := make([]topicqueue.SubTopic, len(answers))
	for i, a := range answers {
		proposals[i] = topicqueue.SubTopic{
			Title:    cleanTitle(prompts.Unmarked(a.Title)),
			Overview: topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(a.Overview)), maxOverview),
		}
	}
	for i, admission := range topicqueue.Judge(known, proposals, min(run.Options.QueueMaxLength, len(known)+most)) {
		why := topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(answers[i].Reason)), maxReason)
		if admission.Answer == topicqueue.AdmissionFull {
			open = append(open, strings.TrimSuffix(admission.Title+": "+why, ": "))
		}
		if admission.Answer != topicqueue.AdmissionAdded {
			continue
		}
		s := proposals[i]
		s.Title = admission.Title
		s.Queries = cleanQueries(asked, answers[i].Queries, starterQueries)
		if parent := strings.TrimSpace(answers[i].Parent); slices.ContainsFunc(known, func(b topicqueue.BlockTitle) bool {
			return b.ID == parent
		}) {
			s.Parent = parent
		}
		s.Why = cmp.Or(why, "the review did not say why")
		out = append(out, s)
	}
	return out, open
}

// Room returns the number of blocks that fit into the time left, from the median time of this run's blocks and the
// number of parallel ones. left: time until research ends; negative: no limit. It returns -1 if there is no limit or no
// completed block.
func Room(blocks []topicqueue.Block, left time.Duration, parallel int) int {
	if left < 0 {
		return -1
	}
	usual := UsualTime(blocks)
	if usual == 0 {
		return -1
	}
	return int(left/usual) * max(1, parallel)
}

// UsualTime returns the median duration of the completed blocks, or 0 if there are none.
func UsualTime(blocks []topicqueue.Block) time.Duration {
	var took []time.Duration
	for _, b := range blocks {
		if d := b.UpdatedAt.Sub(b.BeganAt); b.Status == topicqueue.BlockCompleted && !b.BeganAt.IsZero() && d > 0 {
			took = append(took, d)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

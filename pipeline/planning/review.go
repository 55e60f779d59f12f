package planning

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	// reviewShrinks is how often a review is asked at most: of all claims, then of half of those of each block, and so on,
	// until they fit the model's window.
	reviewShrinks = 6
	maxGaps       = 3 // of one review
	maxOpen       = 6
	maxFailure    = 200
	maxSource     = 120 // bytes of its name, and of its label
	maxBeginning  = 200
)

// Reviewer compares the evidence of runs with their plans. Its fields are set once; Review is safe for concurrent use.
type Reviewer struct {
	Model llm.Model // nil: nothing is compared, see Review
	// Draft lets the model draft an answer of the topic first and name what that could not say. It takes a model with
	// room for it: 32,000 tokens or more.
	Draft bool
}

// Evidence is what a review looks at.
type Evidence struct {
	Topic  string          // as researched
	Blocks []BlockEvidence // all of the run in their order; each has ended
	Room   int             // blocks that the time of the run still allows; below 0: any number
	// Last is the review before this one, zero: none. Where there is no room for another one, it holds on.
	Last topicqueue.Review
	// Documents of the run's knowledge base that no search has returned: the first passage of each.
	Unread []topicqueue.Source
	// No block may be added: the evidence is compared as it is.
	Closed bool
}

// BlockEvidence is a block with what it found.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Review says which blocks a run still needs, at most three and as many as its queue and its time have room for, none
// like another, which of its blocks are one subject, which claims contradict each other, and what stays open.
//
// Where there is no room for a block, nobody is asked, unless the evidence says that it is closed. Without a model
// nothing is compared: blocks have then asked all that follows from plan and claims by themselves, and no rule finds
// better questions. A model that is away or gives no usable answer is no error either: the review then says in NotDone
// why nothing was compared. The error is the cause of ctx's end.
func (r *Reviewer) Review(ctx context.Context, run topicqueue.Run, e Evidence) (topicqueue.Review, error) {
	if r.Model == nil {
		return topicqueue.Review{}, nil
	}
	room := run.Options.QueueMaxLength - len(e.Blocks)
	if e.Room >= 0 {
		room = min(room, e.Room)
	}
	switch {
	case e.Closed:
		room = 0
	case room > 0:
	case len(e.Last.Gaps) > 0:
		return e.Last.Standing(""), nil
	case e.Room == 0:
		return e.Last.Standing("the remaining time is too short for a block"), nil
	default:
		return e.Last.Standing("the queue has no room for another block"), nil
	}
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
	return review, nil
}

// contradictions returns the pairs that a model has named, each once: of two claims of the run from different sources.
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

// ask shows as much evidence as the model's window takes.
func (r *Reviewer) ask(
	ctx context.Context, run topicqueue.Run, e Evidence, most int,
) (answer prompts.ReviewAnswer, err error) {
	for shrink := range reviewShrinks {
		data := prompts.ReviewData{Topic: e.Topic, MaxGaps: most, Draft: r.Draft}
		if shrink == 0 { // the first to go
			data.Unread = unread(e.Unread)
		}
		number, listed := 1, map[[2]string]bool{}
		for _, b := range e.Blocks {
			data.Blocks = append(data.Blocks, reviewed(b, claims(b)>>shrink, number, listed))
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

// unread shows documents that no search has returned.
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

// claimsOf returns all claims of a run with their sources. A review names them by their places here, counted from 1.
func claimsOf(e Evidence) (list []evidence.Claim) {
	for _, b := range e.Blocks {
		list = append(list, evidence.Collect(b.Traces)...)
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

// reviewed shows a block with n of its claims: of each source in turn, so that none is crowded out, in the order in
// which they were found. number is that of its first claim. listed: the quotes of earlier blocks, by source, to which
// those of this one are added; what they have is not shown again.
func reviewed(b BlockEvidence, n, number int, listed map[[2]string]bool) prompts.ReviewBlock {
	shown := make([]int, len(b.Traces)) // claims of each trace
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
	own := map[[2]string]bool{}
	for i, t := range b.Traces {
		for k, c := range t.Claims[:shown[i]] {
			key := [2]string{t.Source.ID, c.Quote}
			if c.Quote != "" && listed[key] {
				continue
			}
			own[key] = true
			line := prompts.PlaceClaim{Number: number + k, Text: c.Text, Source: sourceOf(t.Source)}
			out.Claims = append(out.Claims, line)
		}
		number += len(t.Claims)
	}
	maps.Copy(listed, own)
	return out
}

// sourceOf names a source, whose it is and of when.
func sourceOf(s topicqueue.Source) string {
	line := topicqueue.Clip(s.Name(), maxSource)
	if label := s.Label(); label != "" {
		line += " (" + topicqueue.Clip(label, maxSource) + ")"
	}
	return line
}

// trouble says why a block has less than it was planned to have.
func trouble(b topicqueue.Block) string {
	reason := topicqueue.Clip(topicqueue.OneLine(b.Reason), maxFailure)
	if b.Status == topicqueue.BlockFailed {
		return strings.TrimSuffix("failed: "+reason, ": ")
	}
	return reason
}

// gaps makes blocks of what a model asked for, by the rules of the queue. open: what there is no room for.
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

// Room returns how many blocks the time that is left allows: as many rounds of parallel ones as blocks of this run took
// at the median. left: until research ends, negative = without limit; then the result is -1, and also where no block
// has ended that could tell.
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

// UsualTime is the median time of the blocks that have ended with all they could find; 0 where there is none.
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

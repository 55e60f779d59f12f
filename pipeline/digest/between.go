package digest

import (
	"context"
	"slices"
	"strconv"

	"nightdesk/pipeline/evidence"
)

// Disagreement is a contradiction between reports. No single report has both sides.
type Disagreement struct {
	evidence.Contradiction
	Runs  []Ref // runs with either side, at most 5
	Count int   // number of all such runs
}

// Limits of Between.
const (
	maxCompared = 30_000 // statements in memory, about 1,000 bytes each
	maxAlike    = 40     // statements per subject
	maxAgain    = 3      // disagreements per subject
)

// statement is a statement from one source, made by one or more runs.
type statement struct {
	evidence.Claim
	runs []int
}

// Between finds contradictions between reports. claims returns the claims of a run with their sources, or nil. complete
// reports whether no claim was left out. The error is that of claims, or the cause of ctx's end.
func Between(ctx context.Context, runs []Ref,
	claims func(ctx context.Context,
		runID string) ([]evidence.Claim, error)) (found []Disagreement, complete bool, err error) {
	complete = true
	alike, order, kept := map[string][]statement{}, []string(nil), 0 // by subject
	for i, r := range runs {
		list, err := claims(ctx, r.RunID)
		if err != nil {
			return nil, false, err
		}
		for _, c := range list {
			subject := evidence.Subject(c)
			if subject == "" {
				continue
			}
			known := slices.IndexFunc(alike[subject], func(s statement) bool {
				return s.SourceID == c.SourceID && s.Text == c.Text && s.Quote == c.Quote
			})
			switch {
			case known >= 0:
				s := &alike[subject][known]
				s.runs = append(s.runs, i)
			case kept == maxCompared || len(alike[subject]) == maxAlike:
				complete = false
			default:
				if alike[subject] == nil {
					order = append(order, subject)
				}
				alike[subject], kept = append(alike[subject], statement{c, []int{i}}), kept+1
			}
		}
	}
	for _, subject := range order {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		d := disagreements(alike[subject], runs)
		found = append(found, d[:min(len(d), maxAgain)]...)
	}
	return found, complete, nil
}

// disagreements compares the statements of one subject.
func disagreements(list []statement, runs []Ref) []Disagreement {
	if len(list) < 2 {
		return nil
	}
	claims := make([]evidence.Claim, len(list))
	for i, s := range list {
		claims[i] = s.Claim
		claims[i].ID = strconv.Itoa(i) // ids of different runs are not distinct
	}
	var found []Disagreement
	for _, c := range evidence.Weigh(claims, nil, nil, nil).Contradictions {
		a, b := runsOf(c.A, list), runsOf(c.B, list)
		if slices.ContainsFunc(a, func(i int) bool { return slices.Contains(b, i) }) {
			continue // that report already presents both sides
		}
		d := Disagreement{Contradiction: c, Count: len(a) + len(b)}
		for i := range max(len(a), len(b)) { // alternate, so that both sides are shown
			for _, side := range [][]int{a, b} {
				if i < len(side) && len(d.Runs) < maxRefs {
					d.Runs = append(d.Runs, runs[side[i]])
				}
			}
		}
		found = append(found, d)
	}
	return found
}

// runsOf returns the distinct indexes of the runs that have a side, in order.
func runsOf(s evidence.Side, list []statement) []int {
	var of []int
	for _, id := range s.Claims {
		if i, err := strconv.Atoi(id); err == nil && i < len(list) {
			of = append(of, list[i].runs...)
		}
	}
	slices.Sort(of)
	return slices.Compact(of)
}

package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Journal keeps the answers of a run and its accounts. It returns what stands at a place, else what ask returns, and
// stores that.
//
// most: what the call can use, see Most. ask makes the call, whose answer may have so many tokens (0: as many as
// it may anyway); its result is to be recorded also when it failed, and in one step with the answer: what is paid for
// is not asked again. An error of the Journal itself means that ask must not begin: the attempt is over, or ErrBudget.
type Journal func(ctx context.Context, place string, most topicqueue.Usage,
	ask func(ctx context.Context, limit int) (Made, error)) ([]byte, error)

// Made is a call that was made.
type Made struct {
	Answer []byte // nil: not to be kept by the journal, or none
	Usage  topicqueue.Usage
	Asked  Request
	Said   string // the text of the answer, whether or not it was usable
}

// Journaled wraps a Model so that no question of a run is paid for twice: an answer that its asker found usable
// (Request.Valid) is stored at the call's position, and whoever asks the same there again, in this process or another,
// gets it. A second question of Ask or Text is stored in the place of the first: an accepted answer stays accepted.
func Journaled(m Model, journal Journal) Model { return journaled{m, journal} }

type journaled struct {
	model   Model
	journal Journal
}

func (j journaled) Generate(ctx context.Context, req Request) (Response, error) {
	var own Response // what was answered now
	value, err := j.journal(ctx, place(req), Most(j.model, req), func(ctx context.Context, limit int) (Made, error) {
		req, start := req, time.Now()
		req.Limit = limit
		resp, err := j.model.Generate(ctx, req)
		resp.Usage = accounted(req, resp.Usage, start, err)
		own = resp
		made := Made{Usage: resp.Usage, Asked: req, Said: resp.Text}
		if err != nil || req.Valid != nil && !req.Valid(resp) {
			return made, err
		}
		made.Answer, err = json.Marshal(resp)
		return made, err
	})
	if err != nil || value == nil {
		return own, err
	}
	var resp Response
	if err := json.Unmarshal(value, &resp); err != nil {
		return Response{}, fmt.Errorf("%s: decode the journal: %w", step(req), err)
	}
	return resp, nil
}

// place is the position of a question and a hash of what it says.
func place(req Request) string {
	p := req.Position
	return fmt.Sprintf("%s/%d/%s/%d/%s", p.Stage, p.Iteration, strings.TrimSuffix(step(req), reaskSuffix),
		p.Ordinal, asked(req))
}

const reaskSuffix = ".reask"

// asked returns a hash of the question, which a second question has from the first.
func asked(req Request) string {
	if req.asked != "" {
		return req.asked
	}
	sum := sha256.New()
	for _, part := range []string{string(req.Role), req.Prompt.System, req.Prompt.User, string(req.Prompt.Schema)} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	if len(req.Turns) > 0 || len(req.Tools) > 0 {
		_ = json.NewEncoder(sum).Encode([]any{req.Turns, req.Tools, req.NoCalls}) // texts always encode
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

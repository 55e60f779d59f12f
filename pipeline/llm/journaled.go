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

// Journal stores the answers of a run and its usage. It returns the answer stored at place, otherwise the result of
// ask, which it stores.
//
// most is the maximum usage of the call, see func Most. ask makes the call with an answer limit in tokens (0: no
// further limit). Its usage must be recorded even if it failed, and in one step with the answer, so that a paid call
// is not repeated. An error of the Journal itself means that ask must not begin: the attempt is over, or ErrBudget.
type Journal func(ctx context.Context, place string, most topicqueue.Usage,
	ask func(ctx context.Context, limit int) (Made, error)) ([]byte, error)

// Made is a call that has been made.
type Made struct {
	Answer []byte // nil: no answer, or none to be stored
	Usage  topicqueue.Usage
	Asked  Request
	Said   string // text of the answer, usable or not
}

// Journaled wraps a Model so that no question of a run is paid for twice. An answer that the caller accepts
// (Request.Valid) is stored at the call's position. The same question at that position then returns it, in this
// process or another. The second question of Ask or Text uses the place of the first, so that an accepted answer is
// final.
func Journaled(m Model, journal Journal) Model { return journaled{m, journal} }

type journaled struct {
	model   Model
	journal Journal
}

func (j journaled) Generate(ctx context.Context, req Request) (Response, error) {
	var own Response // answer of a call made now
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

// place returns the position of a question and a hash of its content.
func place(req Request) string {
	p := req.Position
	return fmt.Sprintf("%s/%d/%s/%d/%s", p.Stage, p.Iteration, strings.TrimSuffix(step(req), reaskSuffix),
		p.Ordinal, asked(req))
}

const reaskSuffix = ".reask"

// asked returns a hash of the question. The second question of Ask or Text keeps the hash of the first.
func asked(req Request) string {
	if req.asked != "" {
		return req.asked
	}
	sum := sha256.New()
	for _, part := range []string{string(req.Role), req.Prompt.System, req.Prompt.User, string(req.Prompt.Schema)} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	if len(req.Turns) > 0 || len(req.Tools) > 0 {
		_ = json.NewEncoder(sum).Encode([]any{req.Turns, req.Tools, req.NoCalls}) // strings always encode
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

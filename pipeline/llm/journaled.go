package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"nightdesk/topicqueue"
)

// Journaled wraps a Model so that no question of a run is paid for twice: an answer that its asker found usable
// (Request.Valid) is stored at the call's position, and whoever asks the same there again, in this process or another,
// gets it. A second question of Ask or Text is stored in the place of the first: an accepted answer stays accepted.
func Journaled(m Model, once topicqueue.Once) Model { return journaled{m, once} }

type journaled struct {
	model Model
	once  topicqueue.Once
}

func (j journaled) Generate(ctx context.Context, req Request) (Response, error) {
	var failed Response
	value, err := j.once(ctx, place(req), func(ctx context.Context) ([]byte, bool, error) {
		resp, err := j.model.Generate(ctx, req)
		if err != nil {
			failed = resp // its usage
			return nil, false, err
		}
		value, err := json.Marshal(resp)
		return value, req.Valid == nil || req.Valid(resp), err
	})
	if err != nil {
		return failed, err
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
	return fmt.Sprintf("%s/%d/%s/%d/%s", p.Stage, p.Iteration, strings.TrimSuffix(step(req), reaskSuffix), p.Ordinal, asked(req))
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
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

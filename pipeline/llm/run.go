package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nightdesk/prompts"
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

// Background is the information that all questions of a run share.
type Background struct {
	Language  string // language of its prompts, as in package prompts
	Date      string // day of the run, YYYY-MM-DD
	UserInfo  string // who asks and why; empty: unknown
	Documents []topicqueue.Document
	Length    string // report length that the user wants; empty: not specified
	Audience  string // readers of the report; empty: not specified
}

// Run is the Model that the stages of a run use. It asks another Model, tells it the background of the run, and pays
// for no question twice: an answer that the caller accepts (Request.Valid) is stored in the journal, and the same
// question at that position then returns it, in this process or another. The second question of Ask or Text uses the
// place of the first, so that an accepted answer is final.
type Run struct {
	Model      Model
	Journal    Journal
	Background func() Background // the same for all questions of a stage, because it is part of the question; nil: none
	Until      time.Time         // calls wait until then for a server that is down; zero: until their context ends
}

// Generate implements Model.
func (r Run) Generate(ctx context.Context, req Request) (Response, error) {
	if r.Background != nil {
		req = r.Background().about(req)
	}
	req.Until = r.Until
	var own Response // answer of a call made now
	value, err := r.Journal(ctx, place(req), Most(r.Model, req), func(ctx context.Context, limit int) (Made, error) {
		req, start := req, time.Now()
		req.Limit = limit
		resp, err := r.Model.Generate(ctx, req)
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

// about inserts the background into a question, before its data.
func (b Background) about(req Request) Request {
	data := prompts.AboutData{Date: b.Date, UserInfo: b.UserInfo, Length: b.Length, Audience: b.Audience}
	for _, d := range b.Documents {
		data.Documents = append(data.Documents, prompts.Document(d))
	}
	if req.asked != "" { // a journal must distinguish questions that differ only in their background
		bare := Request{Prompt: prompts.About(b.Language, prompts.Prompt{Name: req.Prompt.Name}, data)}
		req.asked += asked(bare)
	}
	req.Prompt = prompts.About(b.Language, req.Prompt, data)
	return req
}

// accounted completes the usage of a call that began at start, for a model that does not fill it in.
func accounted(req Request, u topicqueue.Usage, start time.Time, err error) topicqueue.Usage {
	if u.Timestamp.IsZero() {
		tokens := u
		u = usageFor(req, start)
		u.Model = tokens.Model
		u.AddTokens(tokens)
		u.TookMS = time.Since(start).Milliseconds()
	}
	u.Failed = err != nil
	return u
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
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

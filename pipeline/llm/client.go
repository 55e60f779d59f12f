package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// Client is the Model for model servers that use one of three protocols (see Provider). It retries, stays within the
// limits of its governor, and determines the form of request that each server accepts. Make one per process, so that
// all calls share what it learns about a server. Safe for concurrent use.
type Client struct {
	roles map[Role]*role
}

var _ Model = (*Client)(nil)

// role is the settings of one role with the state that it shares with other roles.
type role struct {
	settings RoleSettings
	host     string
	protocol protocol
	llm      llms.Model
	client   *http.Client // the client used by llm
	learned  *learned     // shared per server and model
	governor Governor
	account  string // account whose limits apply
	outage   *outage
	limits   topicqueue.CallLimits
	hear     Hear
}

// NewClient validates the settings and returns a client. It opens no connection. The error lists all problems.
func NewClient(s Settings) (*Client, error) {
	below := exchanging(s.HTTPClient)
	if len(s.Roles) == 0 {
		return nil, fmt.Errorf("model settings: no role has a model: %w", ErrPermanent)
	}
	c := &Client{roles: map[Role]*role{}}
	models, outages := map[string]*learned{}, map[string]*outage{}
	var wrong []error
	for name, settings := range s.Roles {
		settings, err := settings.withDefaults()
		if err != nil {
			wrong = append(wrong, fmt.Errorf("model settings of role %s: %w", name, err))
			continue
		}
		model, err := protocols[settings.Provider].connect(settings, below)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("model settings of role %s: %w", name, err))
			continue
		}
		r := newRole("chat", settings, below, s.Governor)
		served := string(settings.Provider) + " " + settings.BaseURL + " " + settings.Model
		if models[served] == nil {
			models[served] = &learned{}
		}
		if outages[r.account] == nil {
			outages[r.account] = r.outage
		}
		r.llm, r.learned, r.outage, r.limits, r.hear = model, models[served], outages[r.account], s.Limits, s.Hear
		c.roles[name] = r
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(wrong...)
	}
	return c, nil
}

// newRole returns a role without a model of langchaingo. use: see account. settings are complete.
func newRole(use string, settings RoleSettings, client *http.Client, governor Governor) *role {
	if governor == nil {
		governor = ungoverned{}
	}
	return &role{settings: settings, host: settings.host(), protocol: protocols[settings.Provider], client: client,
		governor: governor, account: account(use, settings), outage: &outage{}}
}

// fetch sends a request that langchaingo does not know; without a payload it is a GET. read and wanted: see wire.Fetch.
// inTime is false if there was no answer within the timeout.
func (r *role) fetch(ctx context.Context, path string, payload any, timeout time.Duration, wanted string,
	read func(ex *wire.Exchange, kind string) error) (ex *wire.Exchange, inTime bool) {
	tryCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	method, body := http.MethodGet, []byte(nil)
	if payload != nil {
		method, body = http.MethodPost, wire.Encode(payload)
	}
	req, err := http.NewRequestWithContext(tryCtx, method, r.settings.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return &wire.Exchange{Err: err, Wanted: wanted}, true
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := r.settings.APIKey; key != "" && r.settings.Provider != ProviderAnthropic {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if r.settings.Provider == ProviderAnthropic {
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Api-Key", r.settings.APIKey)
	}
	ex = wire.Fetch(r.client, req, wanted, read)
	return ex, ex.Err == nil || tryCtx.Err() == nil || ctx.Err() != nil
}

// Generate asks one question and waits for the whole answer. With an error, Response has only the call's Usage.
func (c *Client) Generate(ctx context.Context, req Request) (Response, error) {
	start := time.Now()
	usage := usageFor(req, start)
	r, ok := c.roles[req.Role]
	if !ok {
		return Response{Usage: usage}, fmt.Errorf("%s: role %q has no model: %w", step(req), req.Role, ErrPermanent)
	}
	usage.Model = r.settings.Model
	resp, err := r.call(ctx, req)
	usage.AddTokens(resp.Usage)
	usage.Failed = err != nil
	usage.TookMS = time.Since(start).Milliseconds()
	resp.Usage = usage
	return resp, err
}

// Provider returns the provider of a role's model; empty if the role has none.
func (c *Client) Provider(of Role) Provider {
	if r, ok := c.roles[of]; ok {
		return r.settings.Provider
	}
	return ""
}

var _ Estimator = (*Client)(nil)

// Most implements Estimator.
func (c *Client) Most(req Request) topicqueue.Usage {
	u := usageFor(req, time.Time{})
	r, ok := c.roles[req.Role]
	if !ok {
		return u
	}
	u.Model, u.PromptTokens = r.settings.Model, r.learned.tokens(req.Prompt)
	u.CompletionTokens, _ = answerLimit(u.PromptTokens, r.settings.ContextTokens, r.settings.wanted(req.Prompt))
	return u
}

// call makes tries until there is an answer or an error.
func (r *role) call(ctx context.Context, req Request) (Response, error) {
	doing := step(req) + " with " + r.settings.Model
	wanted := r.settings.wanted(req.Prompt)
	if req.Limit > 0 && (wanted == 0 || req.Limit < wanted) {
		wanted = req.Limit
	}
	tokens := r.learned.tokens(req.Prompt)
	limit, ok := answerLimit(tokens, r.settings.ContextTokens, wanted)
	if !ok {
		return Response{},
			fmt.Errorf("%s: a prompt of about %d tokens and an answer of %d do not fit a window of %d tokens: %w: %w",
				doing, tokens, wanted, r.settings.ContextTokens, ErrContextLength, ErrPermanent)
	}
	f := r.learned.form(r.settings, req.Prompt, limit)
	var billed topicqueue.Usage // usage of tries without a usable answer
	var resp Response
	t := trial{
		call: topicqueue.Call{
			Run: req.Position.RunID, First: isUrgent(req.Position.Stage), Tokens: tokens + f.limit, Patient: true,
			Until: req.Until,
		},
		doing: doing, most: r.settings.MaxTries, quick: req.quick,
		late: func() {
			if f.limit >= 2*leastAnswer { // most late answers are long, so a shorter one may be in time
				f.limit /= 2
			}
		},
	}
	if req.quick {
		t.most = 1
	}
	t.send = func(ctx context.Context) (outcome, *wire.Exchange, error) {
		ex, given, inTime, err := r.exchange(ctx, req, f)
		what, err := r.judge(ex, inTime, err)
		switch {
		case ctx.Err() != nil || what == garbled:
			billed.AddTokens(ex.Said.Usage())
		case what == answered:
			r.learned.worked(f)
			if ex.Said.Prompt > 0 {
				r.learned.counted(req.Prompt, ex.Said.Prompt)
			}
			resp = r.response(req, ex, given, f, billed)
		case what == refused || what == broken:
			billed.AddTokens(ex.Said.Usage()) // for an answer without a message
			var said *ProviderError
			if errors.As(err, &said) {
				if next, other := f.adapt(said); other && (what == refused || f.transport != "") {
					f, what = next, reshaped
				}
			}
		case what == late:
			billed.PromptTokens += promptTokens(req.Prompt) // the server read it, and perhaps answered in vain
			billed.Estimated = true
		}
		return what, ex, err
	}
	if err := t.run(ctx, r); err != nil {
		return Response{Usage: billed}, err
	}
	return resp, nil
}

// isUrgent reports whether the calls of a stage go before all others, so that runs that are nearly done finish first.
func isUrgent(stage string) bool { return stage == "reporting" || stage == "reviewing" }

// exchange sends one request. inTime is false if the try timed out.
func (r *role) exchange(ctx context.Context, req Request, f form) (ex *wire.Exchange, given *llms.ContentResponse,
	inTime bool, err error) {
	tryCtx, cancel := context.WithTimeout(ctx, r.settings.Timeout)
	defer cancel()
	messages, options, ex := r.request(req, f)
	defer r.listen(tryCtx, req, f, ex)()
	given, err = r.llm.GenerateContent(wire.With(tryCtx, ex), messages, options...)
	return ex, given, ex.Err == nil || tryCtx.Err() == nil || ctx.Err() != nil, err
}

// response converts an answered exchange to a Response.
func (r *role) response(req Request, ex *wire.Exchange, given *llms.ContentResponse, f form,
	billed topicqueue.Usage) Response {
	text := given.Choices[0].Content
	if f.transport == TransportTool {
		for _, call := range slices.Backward(ex.Said.Calls) { // the first call of our tool, else any call, else the text
			if call.Name == toolName(req.Prompt) || strings.TrimSpace(text) == "" {
				text = string(call.Arguments)
			}
		}
	}
	out := Response{Text: answer.StripThinking(text), Truncated: slices.Contains(cutBy, ex.Said.Finish)}
	if f.limit > 0 && ex.Said.Completion == f.limit { // llama-cpp-python reports "tool_calls" for a cut answer
		out.Truncated = true
	}
	if f.think && out.Truncated && unendedThink.MatchString(out.Text) {
		r.learned.refuses(&r.learned.noThink) // later questions omit the field
	}
	if out.Text == "" && len(req.Prompt.Schema) > 0 && !out.Truncated {
		out.Text = text // thinking without a closing tag may contain the object
	}
	out.Usage = ex.Said.Usage()
	if ex.Said.Prompt == 0 && ex.Said.Completion == 0 {
		out.Usage = topicqueue.Usage{PromptTokens: promptTokens(req.Prompt), CompletionTokens: EstimateTokens(text),
			Estimated: true}
	} else if ex.Said.Prompt == 0 { // Ollama does not count cached tokens
		out.Usage.PromptTokens, out.Usage.Estimated = promptTokens(req.Prompt), true
	}
	out.Usage.AddTokens(billed)
	return out
}

// cutBy are the finish reasons of answers that ended because of a length limit, in all protocols.
var cutBy = []string{"length", "max_tokens", "model_context_window_exceeded"}

// step returns the name of the call for usage records and errors.
func step(req Request) string { return cmp.Or(req.Position.Step, req.Prompt.Name, "question") }

func usageFor(req Request, start time.Time) topicqueue.Usage {
	return topicqueue.Usage{
		Role: string(req.Role), Stage: req.Position.Stage, Step: step(req), Block: req.Position.Block, Timestamp: start.UTC(),
	}
}

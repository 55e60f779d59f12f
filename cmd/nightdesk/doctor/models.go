package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/llm"
)

const leastWindow = 4096 // in tokens; with less, prompts are cut to almost nothing

// sameModels groups the roles that use the same model, server, key and request format.
func sameModels(models config.LLM) (groups [][]wiring.RoleModel) {
	for _, m := range wiring.RoleModels(models) {
		at := slices.IndexFunc(groups, func(g []wiring.RoleModel) bool {
			o := g[0]
			sameServer := o.Provider == m.Provider && o.BaseURL == m.BaseURL && o.APIKey == m.APIKey
			sameForm := o.Transport == m.Transport && o.TokenField == m.TokenField && o.Reasoning == m.Reasoning
			return sameServer && o.Name == m.Name && sameForm
		})
		if at < 0 {
			groups = append(groups, []wiring.RoleModel{m})
			continue
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// modelFailure returns the checkup for a model that cannot be used, with advice for its cause.
func modelFailure(m wiring.RoleModel, err error) checkup {
	c := failure("model", fmt.Errorf("%s: %w", m.Provider, err))
	var refused *llm.ProviderError
	switch {
	case errors.As(err, &refused):
		c.Hint = fmt.Sprintf("Correct LLM_API_KEY, LLM_MODEL or LLM_BASE_URL (of one role: LLM_%s_MODEL and so on); "+
			"`nightdesk config` shows where each comes from.", strings.ToUpper(string(m.Role)))
	case errors.Is(err, llm.ErrUnavailable):
		c.Hint = "Start the server, or correct LLM_BASE_URL. " +
			"Runs wait for it for two thirds of their time, then quote their sources without it."
	}
	return c
}

// checkModels checks for the model of each role that its server is reachable, accepts the key and has the model. With
// ask, it also checks that the model answers a structured question.
func checkModels(ctx context.Context, cfg config.Config, ask bool) []checkup {
	client, err := wiring.NewModel(cfg, nil, nil)
	if err != nil {
		return []checkup{failure("model", err)}
	}
	if client == nil {
		return []checkup{{Name: "model", Result: "note", Text: "LLM_MODEL is not set: reports are extractive",
			Hint: "Set LLM_MODEL and LLM_API_KEY, or LLM_BASE_URL for a server of your own, or LLM_PROVIDER=ollama."}}
	}
	var out []checkup
	var narrow []string
	for _, same := range sameModels(cfg.LLM) {
		var roles []string
		for _, m := range same {
			roles = append(roles, string(m.Role))
			if m.ContextTokens < leastWindow {
				narrow = append(narrow, fmt.Sprintf("%s (%d)", m.Role, m.ContextTokens))
			}
		}
		reach := reachModel
		if ask {
			reach = askModel
		}
		c := reach(ctx, client, same[0])
		c.Text += " (" + strings.Join(roles, ", ") + ")"
		out = append(out, c)
	}
	if len(narrow) > 0 {
		out = append(out, checkup{Name: "model", Result: "note",
			Text: fmt.Sprintf("context_tokens is below %d for %s: evidence is cut to fit, so that little of it "+
				"remains",
				leastWindow, strings.Join(narrow, ", ")),
			Hint: "Set LLM_CONTEXT_TOKENS to what the model takes, if that is more."})
	}
	return out
}

// askModel asks the model a tiny structured question.
func askModel(ctx context.Context, client *llm.Client, m wiring.RoleModel) checkup {
	transport, took, err := client.Probe(ctx, m.Role)
	if err != nil {
		return modelFailure(m, err)
	}
	return checkup{Name: "model", Result: "ok",
		Text: fmt.Sprintf("%s, %s: answers structured questions by %s in %s", m.Provider, m.Name, transport,
			took.Round(time.Millisecond))}
}

// reachModel checks what can be known without asking the model a question.
func reachModel(ctx context.Context, client *llm.Client, m wiring.RoleModel) checkup {
	c := checkup{Name: "model"}
	reached, err := client.Reach(ctx, m.Role)
	took := reached.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		return modelFailure(m, err)
	case reached.Has:
		c.Result, c.Text = "ok", fmt.Sprintf("%s, %s: the server has this model; answered in %s", m.Provider, m.Name, took)
		return c
	case len(reached.Others) > 0:
		c.Result, c.Text = "failed", fmt.Sprintf("%s, %s: the server does not list this model; it lists: %s",
			m.Provider, m.Name, strings.Join(reached.Others, ", "))
		c.Hint = "Correct LLM_MODEL. If the server accepts any name, use `nightdesk doctor --model` to send a " +
			"test question."
	default:
		c.Result = "note"
		c.Text = fmt.Sprintf("%s, %s: the server is up but does not list its models; answered in %s",
			m.Provider, m.Name, took)
		c.Hint = "Correct LLM_MODEL if it is wrong; `nightdesk doctor --model` sends it a test question."
	}
	return c
}

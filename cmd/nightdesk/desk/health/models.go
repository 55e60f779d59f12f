package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue/redisqueue/governor"
)

const leastWindow = 4096 // in tokens; with less, prompts are cut to almost nothing

// sameModels groups the roles that use the same model, server and key.
func sameModels(models config.LLM) (groups [][]wiring.RoleModel) {
	for _, m := range wiring.RoleModels(models) {
		at := slices.IndexFunc(groups, func(g []wiring.RoleModel) bool {
			o := g[0]
			sameServer := o.Provider == m.Provider && o.BaseURL == m.BaseURL && o.APIKey == m.APIKey
			return sameServer && o.Name == m.Name && o.Reasoning == m.Reasoning
		})
		if at < 0 {
			groups = append(groups, []wiring.RoleModel{m})
			continue
		}
		groups[at] = append(groups[at], m)
	}
	return groups
}

// models checks for the model of each role that its server is reachable, accepts the key and has the model.
func (c Checker) models(ctx context.Context, r report) error {
	client, err := wiring.NewModel(c.Config, nil, nil)
	if err != nil {
		return err
	}
	if client == nil {
		r.note("Set LLM_MODEL and LLM_API_KEY, or LLM_BASE_URL for a server of your own, or LLM_PROVIDER=ollama.",
			"LLM_MODEL is not set: reports are extractive")
		return nil
	}
	var narrow []string
	for _, same := range sameModels(c.Config.LLM) {
		var roles []string
		for _, m := range same {
			roles = append(roles, string(m.Role))
			if m.ContextTokens < leastWindow {
				narrow = append(narrow, fmt.Sprintf("%s (%d)", m.Role, m.ContextTokens))
			}
		}
		modelReport{r, same[0], " (" + strings.Join(roles, ", ") + ")"}.asked(ctx, client, !c.Ask)
	}
	if len(narrow) > 0 {
		r.note("Set LLM_CONTEXT_TOKENS to what the model takes, if that is more.",
			"context_tokens is below %d for %s: evidence is cut to fit, so that little of it remains", leastWindow,
			strings.Join(narrow, ", "))
	}
	return nil
}

// modelReport reports on the model of some roles.
type modelReport struct {
	report
	wiring.RoleModel
	roles string
}

// asked reports what the model says to a tiny structured question, or with look what can be known without one.
func (m modelReport) asked(ctx context.Context, client *llm.Client, look bool) {
	name := m.Provider + ", " + m.RoleModel.Name
	if !look {
		if transport, took, err := client.Probe(ctx, m.Role); err != nil {
			m.broken(err)
		} else {
			m.ok("%s: answers structured questions by %s in %s%s", name, transport, took.Round(time.Millisecond), m.roles)
		}
		return
	}
	server, err := client.Reach(ctx, m.Role)
	took := server.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		m.broken(err)
	case server.Has:
		m.ok("%s: the server has this model; answered in %s%s", name, took, m.roles)
	case len(server.Others) > 0:
		m.failed("Correct LLM_MODEL. If the server accepts any name, use `nightdesk doctor --model` to send a "+
			"test question.", "%s: the server does not list this model; it lists: %s%s", name,
			strings.Join(server.Others, ", "), m.roles)
	default:
		m.note("Correct LLM_MODEL if it is wrong; `nightdesk doctor --model` sends it a test question.",
			"%s: the server is up but does not list its models; answered in %s%s", name, took, m.roles)
	}
}

// broken reports a model that cannot be used, with advice for its cause.
func (m modelReport) broken(err error) {
	hint := view.HintOf(err)
	switch {
	case errors.As(err, new(*llm.ProviderError)):
		hint = fmt.Sprintf("Correct LLM_API_KEY, LLM_MODEL or LLM_BASE_URL (of one role: LLM_%s_MODEL and so on); "+
			"`nightdesk config` shows where each comes from.", strings.ToUpper(string(m.Role)))
	case errors.Is(err, llm.ErrUnavailable):
		hint = "Start the server, or correct LLM_BASE_URL. " +
			"Runs wait for it for two thirds of their time, then quote their sources without it."
	}
	m.failed(hint, "%s: %v%s", m.Provider, err, m.roles)
}

// prices checks that model prices are known, which budgets in money require, and that no price is for another model.
func (c Checker) prices(_ context.Context, r report) error {
	if !c.Config.LLM.Enabled() {
		return nil
	}
	unknown, err := wiring.Unpriced(c.Config.LLM)
	if err != nil {
		return err
	}
	prices, _ := llm.ParsePrices(c.Config.LLM.Prices) // Unpriced has checked it
	models := []string{c.Config.Embedding.Model}
	for _, m := range wiring.RoleModels(c.Config.LLM) {
		models = append(models, m.Name)
	}
	names, missing := prices.Strange(models), strings.Join(unknown, ", ")
	switch l := c.Config.Limits; {
	case len(names) > 0:
		r.failed("Correct the name in LLM_PRICES (llm.prices), or remove the entry.",
			"llm.prices names models that are not in use: %s; in use: %s", strings.Join(names, ", "),
			strings.Join(slices.Compact(slices.Sorted(slices.Values(models[1:]))), ", "))
	case len(unknown) == 0:
		r.ok("the price of every model is known")
	case l.RunBudget.Money() || l.NightBudget.Money():
		r.failed(wiring.PriceHint(unknown[0]),
			"a budget is in US dollars, and no price is known for %s: nothing can be enqueued", missing)
	default:
		r.note(wiring.PriceHint(unknown[0]),
			"no price is known for %s: costs cannot be shown, and budgets must be given in tokens", missing)
	}
	return nil
}

// modelServers reports the concurrency of the model servers, as all workers have learned it.
func (c Checker) modelServers(ctx context.Context, r report) error {
	stats, err := governor.Stats(ctx, c.Desk.Redis)
	for _, s := range stats {
		modelServer(r, s)
	}
	return err
}

func modelServer(r report, s governor.Stat) {
	takes := "no concurrency limit seen yet"
	if s.Limit > 0 {
		takes = fmt.Sprintf("at most %s at a time, as learned", view.Counted(s.Limit, "call"))
	}
	// Two keys for the same host count as two servers.
	server := r.ok("%s (%s): %s; %s running, %d waiting; %d of %d tries refused (too many requests)",
		strings.ToValidUTF8(s.Host, "?"), s.Server[:min(8, len(s.Server))], takes, view.Counted(s.InFlight, "call"),
		s.Waiting, s.Throttled, s.Granted)
	if !s.Down.IsZero() {
		server.Result, server.waits = Note, true
		server.Text += "; away since " + s.Down.Local().Format("2006-01-02 15:04:05 MST") + view.Because(s.Why)
		server.Hint = "One call at a time checks whether it is back; the others wait."
	}
}

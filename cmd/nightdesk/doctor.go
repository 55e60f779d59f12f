package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
	"nightdesk/pipeline/llm"
)

func (a *app) doctorCommand() *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything that is configured works, and say what to do if not", Args: cobra.NoArgs,
		RunE: a.command(func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), ask) }),
	}
	cmd.Flags().BoolVar(&ask, "model", false, "ask the model of each role a tiny question, which costs a few tokens")
	return cmd
}

// checkup is the result of one check of doctor.
type checkup struct {
	Name   string `json:"check"`
	Result string `json:"result"` // ok, note or failed
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

func (a *app) doctor(ctx context.Context, askModels bool) error {
	failed := 0
	checkModels := func(ctx context.Context) []checkup { return a.checkModels(ctx, askModels) }
	for _, check := range []func(context.Context) []checkup{a.checkSettings, a.checkRedis, a.checkSchedules, a.checkStorage, a.checkKnowledge, a.checkEmbedding, a.checkWebSearch, a.checkPapers, a.checkSandbox, checkModels, a.checkPrices, a.checkServers, a.checkUnsent} {
		for _, c := range check(ctx) {
			if c.Result == "failed" {
				failed++
			}
			if a.json {
				if err := a.printJSON(c, true); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(a.stdout, "%-7s %-16s %s\n", c.Result, c.Name, c.Text)
			if c.Hint != "" {
				fmt.Fprintf(a.stdout, "%-24s %s\n", "", c.Hint)
			}
		}
	}
	if failed > 0 {
		return resultError{fmt.Errorf("%d checks failed", failed), exitFailed}
	}
	return nil
}

// failure makes a checkup of an error, with its hint.
func failure(name string, err error) checkup {
	c := checkup{Name: name, Result: "failed", Text: err.Error()}
	var hint hintError
	if errors.As(err, &hint) {
		c.Hint = hint.hint
	}
	return c
}

func (a *app) checkSettings(context.Context) []checkup {
	given := 0
	for _, e := range a.cfg.Effective() {
		if a.cfg.Given(e.Path) {
			given++
		}
	}
	return []checkup{{Name: "settings", Result: "ok", Text: fmt.Sprintf("%d settings are given, the others have their defaults; `nightdesk config` shows all", given)}}
}

func (a *app) checkRedis(ctx context.Context) []checkup {
	const name = "redis"
	if a.cfg.RedisURL.Reveal() == "" {
		if r, err := localredis.Attach(ctx, a.cfg.DataDir); err == nil {
			if err := r.Close(); err != nil {
				return []checkup{failure(name, err)}
			}
			return []checkup{{Name: name, Result: "ok", Text: "the local Redis of the data directory is running"}}
		}
		for _, program := range []string{"redis-server", "valkey-server"} {
			if _, err := exec.LookPath(program); err == nil {
				return []checkup{{Name: name, Result: "note", Text: "REDIS_URL is not set: `run` starts a private " + program,
					Hint: "Set REDIS_URL for `enqueue` and `worker`."}}
			}
		}
		return []checkup{{Name: name, Result: "note", Text: "REDIS_URL is not set and there is no redis-server on PATH: `run` keeps its queue in memory",
			Hint: "Install Redis or Valkey, or set REDIS_URL, for `enqueue` and `worker`."}}
	}
	d, err := a.openDesk(ctx, false)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer d.Close()
	out := []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s answers", a.cfg.RedisURL)}}
	if text, hint := clockTrouble(d.clock.Ahead()); text != "" {
		out = append(out, checkup{Name: "clock", Result: "note", Text: text, Hint: hint})
	}
	for _, f := range inspectRedis(ctx, d.redis) {
		c := checkup{Name: name, Result: "note", Text: f.Text, Hint: f.Hint}
		if f.Level >= redisEvicting {
			c.Result = "failed"
		}
		out = append(out, c)
	}
	return out
}

func (a *app) checkStorage(ctx context.Context) []checkup {
	s, err := a.store(ctx)
	if err != nil {
		return []checkup{failure("storage", err)}
	}
	return []checkup{{Name: "storage", Result: "ok", Text: s.Location("reports") + " can be written"}}
}

func (a *app) checkKnowledge(context.Context) []checkup {
	names, err := knowledge.List(a.knowledgeDir())
	if err != nil {
		return []checkup{failure("knowledge", err)}
	}
	if len(names) == 0 {
		return []checkup{{Name: "knowledge", Result: "note", Text: "there is no knowledge base yet", Hint: "Make one with `nightdesk kb add --name NAME DIR`, or give --kb DIR to `run`."}}
	}
	return []checkup{{Name: "knowledge", Result: "ok", Text: fmt.Sprintf("%d knowledge bases in %s", len(names), a.knowledgeDir())}}
}

// checkEmbedding loads the file of word vectors. A server is asked when there is something to embed.
func (a *app) checkEmbedding(context.Context) []checkup {
	const name = "embedding"
	if !a.cfg.Embedding.Enabled() {
		return []checkup{{Name: name, Result: "note", Text: "EMBEDDING_MODEL is not set: knowledge bases are searched by words",
			Hint: "Set EMBEDDING_MODEL for a server, or EMBEDDING_PROVIDER=static and a file of word vectors, to search by meaning too."}}
	}
	embedder, err := a.embedder(nil)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	words, ok := embedder.(*wordvec.Embedder)
	if !ok {
		return nil
	}
	s, err := words.Load()
	if err != nil {
		return []checkup{failure(name, err)}
	}
	return []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s: %d words, %d dimensions, loaded in %s; the vectors take %d MB",
		a.cfg.Embedding.Model, s.Words, s.Dimensions, s.Took.Round(time.Millisecond), s.Bytes>>20)}}
}

const leastWindow = 4096 // tokens: below this, prompts are cut to almost nothing

// checkModels checks the model of each role: that its server is there, takes the key and has the model; with ask, that it
// answers as the desk needs it.
func (a *app) checkModels(ctx context.Context, ask bool) []checkup {
	client, err := a.model(nil)
	if err != nil {
		return []checkup{failure("model", err)}
	}
	if client == nil {
		return []checkup{{Name: "model", Result: "note", Text: "LLM_MODEL is not set: the desk works extractively",
			Hint: "Set LLM_MODEL and LLM_API_KEY, or LLM_BASE_URL for a server of your own, or LLM_PROVIDER=ollama."}}
	}
	var out []checkup
	var narrow []string
	for _, m := range a.roleModels() {
		if ask {
			out = append(out, askModel(ctx, client, m))
		} else {
			out = append(out, reachModel(ctx, client, m))
		}
		if m.ContextTokens < leastWindow {
			narrow = append(narrow, fmt.Sprintf("%s (%d)", m.role, m.ContextTokens))
		}
	}
	if len(narrow) > 0 {
		out = append(out, checkup{Name: "model", Result: "note",
			Text: fmt.Sprintf("context_tokens is below %d for %s: evidence is cut until it fits, and little is left of it", leastWindow, strings.Join(narrow, ", ")),
			Hint: "Set LLM_CONTEXT_TOKENS to what the model takes, if that is more."})
	}
	return out
}

// askModel asks a tiny structured question.
func askModel(ctx context.Context, client *llm.Client, m roleModel) checkup {
	name := "model " + string(m.role)
	transport, took, err := client.Probe(ctx, m.role)
	if err != nil {
		return failure(name, fmt.Errorf("%s: %w", m.Provider, err))
	}
	return checkup{Name: name, Result: "ok",
		Text: fmt.Sprintf("%s, %s: answers structured questions by %s in %s", m.Provider, m.Name, transport, took.Round(time.Millisecond))}
}

// reachModel finds out what can be known without a question.
func reachModel(ctx context.Context, client *llm.Client, m roleModel) checkup {
	c := checkup{Name: "model " + string(m.role)}
	reached, err := client.Reach(ctx, m.role)
	took := reached.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		return failure(c.Name, fmt.Errorf("%s: %w", m.Provider, err))
	case reached.Has:
		c.Result, c.Text = "ok", fmt.Sprintf("%s, %s: the server has it, answered in %s", m.Provider, m.Name, took)
		return c
	case len(reached.Others) > 0:
		c.Text = fmt.Sprintf("%s, %s: the server does not list it, but %s; answered in %s", m.Provider, m.Name, strings.Join(reached.Others, ", "), took)
	default:
		c.Text = fmt.Sprintf("%s, %s: the server is there and does not say which models it has, answered in %s", m.Provider, m.Name, took)
	}
	c.Result, c.Hint = "note", "`nightdesk doctor --model` asks it a question."
	return c
}

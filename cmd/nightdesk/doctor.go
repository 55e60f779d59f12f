package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
	"nightdesk/storage"
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

// lines are the checkup as a table has it, fitted to a width.
func (c checkup) lines(width int) (lines []string) {
	const indent = 25
	room := max(30, width-1-indent)
	for i, line := range slices.Concat(wrapColumns(c.Text, room), wrapColumns(c.Hint, room)) {
		head := strings.Repeat(" ", indent)
		if i == 0 {
			head = fmt.Sprintf("%-7s %-16s ", c.Result, c.Name)
		}
		lines = append(lines, head+line)
	}
	return lines
}

func (a *app) doctor(ctx context.Context, askModels bool) error {
	failed, width := 0, 1<<20
	if s := newScreen(a.stdout); s != nil {
		width, _ = s.size()
	}
	checkModels := func(ctx context.Context) []checkup { return a.checkModels(ctx, askModels) }
	for _, check := range []func(context.Context) []checkup{a.checkSettings, a.checkRedis, a.checkWorkers,
		a.checkSchedules, a.checkStorage, a.checkKnowledge, a.checkEmbedding, a.checkWebSearch, a.checkPapers, a.checkSandbox,
		checkModels, a.checkPrices, a.checkServers, a.checkMail, a.checkUnsent} {
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
			if err := printPlain(a.stdout, c.lines(width)); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return resultError{fmt.Errorf("%s failed", counted(failed, "check")), exitFailed}
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
	return []checkup{{Name: "settings", Result: "ok",
		Text: fmt.Sprintf("%s given, the others have their defaults; `nightdesk config` shows all",
			counted(given, "setting"))}}
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
		return []checkup{{Name: name, Result: "note",
			Text: "REDIS_URL is not set and there is no redis-server on PATH: `run` keeps its queue in memory",
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
	err = d.queue.Writable(ctx)
	if err != nil {
		t := unwritable(err)
		out = append(out, checkup{Name: name, Result: "failed", Text: t.Text, Hint: t.Hint})
	}
	for _, f := range inspectRedis(ctx, d.redis) {
		if f.Level == redisNearlyFull && err != nil { // it is full, which has been said
			continue
		}
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
	out := []checkup{{Name: "storage", Result: "ok", Text: s.Location("reports") + " can be written"}}
	dirs := []string{a.cfg.DataDir}
	if _, local := s.(*storage.Dir); local {
		dirs = append(dirs, s.Location(""))
	}
	return append(out, a.checkRoom(ctx, dirs...)...)
}

func (a *app) checkKnowledge(context.Context) []checkup {
	names, err := knowledge.List(a.knowledgeDir())
	if err != nil {
		return []checkup{failure("knowledge", err)}
	}
	if len(names) == 0 {
		return []checkup{{Name: "knowledge", Result: "note", Text: "there is no knowledge base yet",
			Hint: "Make one with `nightdesk kb add --name NAME DIR`, or give --kb DIR to `run`."}}
	}
	return []checkup{{Name: "knowledge", Result: "ok", Text: fmt.Sprintf("%s in %s", counted(len(names), "knowledge base"),
		a.knowledgeDir())}}
}

// checkEmbedding loads the file of word vectors. A server is asked when there is something to embed.
func (a *app) checkEmbedding(context.Context) []checkup {
	const name = "embedding"
	if !a.cfg.Embedding.Enabled() {
		return []checkup{{Name: name, Result: "note",
			Text: "EMBEDDING_MODEL is not set: knowledge bases are searched by words",
			Hint: "Set EMBEDDING_MODEL for a server, or EMBEDDING_PROVIDER=static and a file of word vectors, to search by " +
				"meaning too."}}
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
	return []checkup{{Name: name, Result: "ok",
		Text: fmt.Sprintf("%s: %d words, %d dimensions, loaded in %s; the vectors take %d MB",
			a.cfg.Embedding.Model, s.Words, s.Dimensions, s.Took.Round(time.Millisecond), s.Bytes>>20)}}
}

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
	"nightdesk/storage"
)

func doctorCommand(p *program) *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything that is configured works, and say what to do if not", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return runDoctor(ctx, cfg, con, ask)
		}),
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
	for i, line := range slices.Concat(view.Wrap(c.Text, room), view.Wrap(c.Hint, room)) {
		head := strings.Repeat(" ", indent)
		if i == 0 {
			head = fmt.Sprintf("%-7s %-16s ", c.Result, c.Name)
		}
		lines = append(lines, head+line)
	}
	return lines
}

func runDoctor(ctx context.Context, cfg config.Config, con *view.Console, askModels bool) error {
	failed, width := 0, 1<<20
	if s := view.NewScreen(con.Out); s != nil {
		width, _ = s.Size()
	}
	models := func(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
		return checkModels(ctx, cfg, askModels)
	}
	for _, check := range []func(context.Context, config.Config, *view.Console) []checkup{checkSettings, checkRedis,
		checkWorkers,
		checkSchedules, checkStorage, checkKnowledge, checkEmbedding, checkWebSearch, checkPapers, checkSandbox,
		models, checkPrices, checkServers, checkMail, checkUnsent} {
		for _, c := range check(ctx, cfg, con) {
			if c.Result == "failed" {
				failed++
			}
			if con.JSON {
				if err := con.PrintJSON(c, true); err != nil {
					return err
				}
				continue
			}
			if err := view.PrintLines(con.Out, c.lines(width)); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return view.Ended(fmt.Errorf("%s failed", view.Counted(failed, "check")), view.ExitFailed)
	}
	return nil
}

// failure makes a checkup of an error, with its hint.
func failure(name string, err error) checkup {
	return checkup{Name: name, Result: "failed", Text: err.Error(), Hint: view.HintOf(err)}
}

func checkSettings(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	given := 0
	for _, e := range cfg.Effective() {
		if cfg.Given(e.Path) {
			given++
		}
	}
	return []checkup{{Name: "settings", Result: "ok",
		Text: fmt.Sprintf("%s given, the others have their defaults; `nightdesk config` shows all",
			view.Counted(given, "setting"))}}
}

func checkRedis(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	const name = "redis"
	if cfg.RedisURL.Reveal() == "" {
		if r, err := localredis.Attach(ctx, cfg.DataDir); err == nil {
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
	d, err := openDesk(ctx, cfg, con, false)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer d.Close()
	out := []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s answers", cfg.RedisURL)}}
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

func checkStorage(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	s, err := openWritableStore(ctx, cfg, con)
	if err != nil {
		return []checkup{failure("storage", err)}
	}
	out := []checkup{{Name: "storage", Result: "ok", Text: s.Location("reports") + " can be written"}}
	dirs := []string{cfg.DataDir}
	if _, local := s.(*storage.Dir); local {
		dirs = append(dirs, s.Location(""))
	}
	return append(out, checkRoom(ctx, cfg, con, dirs...)...)
}

func checkKnowledge(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	names, err := knowledge.List(knowledgeDir(cfg))
	if err != nil {
		return []checkup{failure("knowledge", err)}
	}
	if len(names) == 0 {
		return []checkup{{Name: "knowledge", Result: "note", Text: "there is no knowledge base yet",
			Hint: "Make one with `nightdesk kb add --name NAME DIR`, or give --kb DIR to `run`."}}
	}
	return []checkup{{Name: "knowledge", Result: "ok", Text: fmt.Sprintf("%s in %s", view.Counted(len(names),
		"knowledge base"),
		knowledgeDir(cfg))}}
}

// checkEmbedding loads the file of word vectors. A server is asked when there is something to embed.
func checkEmbedding(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "embedding"
	if !cfg.Embedding.Enabled() {
		return []checkup{{Name: name, Result: "note",
			Text: "EMBEDDING_MODEL is not set: knowledge bases are searched by words",
			Hint: "Set EMBEDDING_MODEL for a server, or EMBEDDING_PROVIDER=static and a file of word vectors, to search by " +
				"meaning too."}}
	}
	embedder, err := (&embedding{cfg: cfg}).embedder(nil)
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
			cfg.Embedding.Model, s.Words, s.Dimensions, s.Took.Round(time.Millisecond), s.Bytes>>20)}}
}

// Package doctor checks that everything configured works, and finds what prevents the queue from being processed.
//
// Entry points: [Run] for the command doctor, [Look] for its web page, [Troubles] for commands that watch or serve the
// queue.
package doctor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
)

// checkup is the result of one check of doctor.
type checkup = web.Checkup

// linesOf formats a checkup as table lines of at most width columns.
func linesOf(c checkup, width int) (lines []string) {
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

// check is one check of doctor, or several of the same kind.
type check func(ctx context.Context, cfg config.Config, con *view.Console) []checkup

// Run makes all checks and prints their results. Its error says how many failed. askModels also asks each model a
// question, which costs some tokens.
func Run(ctx context.Context, cfg config.Config, con *view.Console, askModels bool) error {
	failed, width := 0, 1<<20
	if s := view.NewScreen(con.Out); s != nil {
		width, _ = s.Size()
	}
	for c := range Look(ctx, cfg, con, askModels) {
		if c.Result == "failed" {
			failed++
		}
		if con.JSON {
			if err := con.PrintJSON(c, true); err != nil {
				return err
			}
			continue
		}
		if err := view.PrintLines(con.Out, linesOf(c, width)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return view.Ended(fmt.Errorf("%s failed", view.Counted(failed, "check")), view.ExitFailed)
	}
	return nil
}

// Look makes all checks in sequence.
func Look(ctx context.Context, cfg config.Config, con *view.Console, askModels bool) iter.Seq[web.Checkup] {
	models := func(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
		return checkModels(ctx, cfg, askModels)
	}
	checks := []check{checkSettings, checkRedis, checkWorkers, checkSchedules, checkStorage, checkKnowledge,
		checkEmbedding, checkWebSearch, checkPapers, checkSandbox, checkOwnTools, checkPrompts, models, checkPrices,
		checkServers, checkMail, checkPDF, checkSpeech, checkTracing, checkUnsent}
	return func(yield func(web.Checkup) bool) {
		for _, look := range checks {
			for _, c := range look(ctx, cfg, con) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// failure converts an error and its hint to a checkup.
func failure(name string, err error) checkup {
	return checkup{Name: name, Result: "failed", Text: err.Error(), Hint: view.HintOf(err)}
}

// checkPrompts lists the prompt templates that prompts.dir replaces.
func checkPrompts(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	own, err := wiring.OwnPrompts(cfg)
	switch {
	case err != nil:
		return []checkup{failure("prompts", err)}
	case own == nil:
		return nil
	case len(own.Files()) == 0:
		return []checkup{{Name: "prompts", Result: "note", Text: "prompts.dir " + cfg.PromptsDir + " has no template",
			Hint: "`nightdesk prompts` lists the names that templates can have."}}
	}
	return []checkup{{Name: "prompts", Result: "ok", Text: fmt.Sprintf("%s replaced by prompts.dir: %s (%s)",
		view.Counted(len(own.Files()), "template"), strings.Join(own.Files(), ", "), own.Hash())}}
}

func checkSettings(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	given := 0
	for _, e := range cfg.Effective() {
		if cfg.Given(e.Path) {
			given++
		}
	}
	return []checkup{{Name: "settings", Result: "ok",
		Text: fmt.Sprintf("%s set, the others have their defaults; `nightdesk config` shows all",
			view.Counted(given, "setting"))}}
}

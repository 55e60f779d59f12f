package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/pipeline/tools/websearch"
)

// checkSandbox runs a program in the sandbox.
func checkSandbox(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "run_code"
	if !cfg.Researching.EnableRunCode {
		return []checkup{{Name: name, Result: "note", Text: "researching.enable_run_code is false: programs are " +
			"not run"}}
	}
	box, err := wiring.NewSandbox(ctx, cfg)
	if err != nil && cfg.Code.PythonWASM == "" {
		return []checkup{{Name: name, Result: "note", Text: fmt.Sprintf("programs are not run, because there is "+
			"no sandbox: %v", err),
			Hint: "To have one: " + wiring.SandboxHint}}
	}
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer func() { _ = box.Close(context.WithoutCancel(ctx)) }() // no longer needed
	out, err := box.Run(ctx, "import sys\nprint(sys.version.split()[0])")
	if err != nil {
		return []checkup{failure(name, err)}
	}
	if out.Exit != 0 || out.Ended != sandbox.EndedItself {
		return []checkup{failure(name, fmt.Errorf("a program in %s failed: exit status %d, limit %q", box.Name(),
			out.Exit, out.Ended))}
	}
	return []checkup{{Name: name, Result: "ok",
		Text: fmt.Sprintf("programs run in %s, Python %.20s, started in %s; at most %s each",
			box.Name(), strings.TrimSpace(out.Stdout), out.Took.Round(time.Millisecond), wiring.CodeLimits(cfg).Time)}}
}

// checkWebSearch checks the search engines without searching, because a search may cost money.
func checkWebSearch(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "web search"
	engines, err := wiring.NewSearchEngines(cfg, nil, fetch.New(fetch.Settings{}))
	if err != nil {
		return []checkup{failure(name, err)}
	}
	if len(engines) == 0 {
		return []checkup{{Name: name, Result: "note", Text: "no web search engine is configured: only knowledge " +
			"bases are searched",
			Hint: "Set SEARXNG_URL for a SearXNG of your own, or " + view.Either(config.SearchEngineKeys()...) + "."}}
	}
	const startIt = "Start it, or correct its address (SEARXNG_URL, web_search.base_urls)."
	var out []checkup
	for _, e := range engines {
		c := checkup{Name: name, Result: "ok", Text: e.Name() +
			": the key is set; only a search, which may cost, would show whether it is accepted"}
		known, err := e.Reach(ctx)
		var reason *websearch.Error
		switch {
		case errors.As(err, &reason):
			c = checkup{Name: name, Result: "failed", Text: fmt.Sprintf("%s: %v", e.Name(), reason.Err),
				Hint: cmp.Or(reason.Advice, startIt)}
		case err != nil:
			c = checkup{Name: name, Result: "failed", Text: fmt.Sprintf("%s: %v", e.Name(), err), Hint: startIt}
		case known:
			c.Text = e.Name() + ": it is there and answers in JSON"
		}
		out = append(out, c)
	}
	if !cfg.Researching.EnableWebSearch {
		out = append(out, checkup{Name: name, Result: "note",
			Text: "researching.enable_web_search is false: search engines are not used"})
	}
	return out
}

// checkPapers queries each index of paper_search.
func checkPapers(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	if !cfg.Researching.EnablePaperSearch {
		return nil
	}
	outside := fetch.New(fetch.Settings{Timeout: cfg.Fetch.Timeout})
	defer outside.Close()
	index, err := wiring.NewPaperIndex(cfg, outside, fetch.NewLocalPace())
	if err != nil {
		return []checkup{failure("paper_search", err)}
	}
	return askIndexes(ctx, index)
}

// askIndexes returns a checkup for the answer of each index.
func askIndexes(ctx context.Context, index *papers.Search) []checkup {
	var out []checkup
	for _, answer := range index.Ask(ctx, papers.ParseQuery("electron", 1)) {
		label := papers.Label(answer.Provider)
		c := checkup{Name: "paper_search", Result: "ok",
			Text: fmt.Sprintf("%s answers in %s", label, answer.Took.Round(time.Millisecond))}
		switch {
		case answer.Err != nil:
			c = failure(c.Name, answer.Err)
			c.Hint = indexHint(answer.Provider, answer.Err)
		case len(answer.Papers) == 0:
			c.Result, c.Text = "note", label+" answers, but has no paper on electrons: its form may have changed"
		}
		out = append(out, c)
	}
	return out
}

// indexHint returns advice for an index that does not answer.
func indexHint(provider string, err error) string {
	key := map[string]string{papers.OpenAlex: "OPENALEX_API_KEY",
		papers.SemanticScholar: "SEMANTIC_SCHOLAR_API_KEY"}[provider]
	var status *fetch.StatusError
	switch {
	case errors.As(err, &status) && key != "" && status.Status < http.StatusInternalServerError:
		return "Check " + key + ", or leave this index out of paper_search.providers."
	case errors.As(err, &status):
		return "Try again later. Searches go on with the other indexes."
	}
	return "Check this machine's way to the internet, or leave this index out of paper_search.providers."
}

// checkOwnTools starts the MCP servers of tools.file. It does not call commands and services, whose effects are
// unknown.
func checkOwnTools(ctx context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "own tools"
	if cfg.Tools.File == "" {
		return nil
	}
	own, err := wiring.NewOwnTools(cfg)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer own.Close()
	var out []checkup
	for _, o := range cfg.Tools.Own {
		c := checkup{Name: name, Result: "ok", Text: o.Name + ": the service is set; it is not called here"}
		if len(o.Command) > 0 {
			c.Text = o.Name + ": the program is there; it is not called here"
			if _, err := exec.LookPath(o.Command[0]); err != nil {
				c = checkup{Name: name, Result: "failed", Text: fmt.Sprintf("%s: %v", o.Name, err),
					Hint: "Correct its command in " + cfg.Tools.File + "."}
			}
		}
		out = append(out, c)
	}
	for _, s := range own.Servers {
		offered, problems, err := s.Tools(ctx)
		if err != nil {
			out = append(out, checkup{Name: name, Result: "failed", Text: err.Error(),
				Hint: "Correct it in " + cfg.Tools.File + "."})
			continue
		}
		var names []string
		for _, t := range offered {
			names = append(names, t.Name())
		}
		out = append(out, checkup{Name: name, Result: "ok",
			Text: fmt.Sprintf("MCP server %s: %s", s.MCPServer.Name, strings.Join(names, ", "))})
		for _, p := range problems {
			out = append(out, checkup{Name: name, Result: "failed", Text: p, Hint: "Correct it in " + cfg.Tools.File + "."})
		}
	}
	return out
}

package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
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

// sandbox runs a program in the sandbox.
func (c Checker) sandbox(ctx context.Context, r report) error {
	if !c.Config.Researching.EnableRunCode {
		r.note("", "researching.enable_run_code is false: programs are not run")
		return nil
	}
	box, err := wiring.NewSandbox(c.Config)
	if err != nil && c.Config.Code.PythonWASM == "" {
		r.note(view.HintOf(err), "programs are not run: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = box.Close(context.WithoutCancel(ctx)) }() // no longer needed
	out, err := box.Run(ctx, "import sys\nprint(sys.version.split()[0])")
	if err != nil {
		return err
	}
	if out.Exit != 0 || out.Ended != sandbox.EndedItself {
		return fmt.Errorf("a program failed: exit status %d, limit %q", out.Exit, out.Ended)
	}
	r.ok("programs run in WebAssembly, Python %.20s, started in %s; at most %s each", strings.TrimSpace(out.Stdout),
		out.Took.Round(time.Millisecond), wiring.CodeLimits.Time)
	return nil
}

// webSearch checks the search engines without searching, because a search may cost money.
func (c Checker) webSearch(ctx context.Context, r report) error {
	engines, err := wiring.NewSearchEngines(c.Config, nil, fetch.New(fetch.Settings{}))
	if err != nil {
		return err
	}
	if len(engines) == 0 {
		r.note("Set SEARXNG_URL for a SearXNG of your own, or "+view.Either(config.SearchEngineKeys()...)+".",
			"no web search engine is configured: only knowledge bases are searched")
		return nil
	}
	for _, e := range engines {
		known, err := e.Reach(ctx)
		var reason *websearch.Error
		advice := ""
		if errors.As(err, &reason) {
			err, advice = reason.Err, reason.Advice
		}
		switch {
		case err != nil:
			r.failed(cmp.Or(advice, "Start it, or correct SEARXNG_URL."), "%s: %v",
				e.Name(), err)
		case known:
			r.ok("%s: it is there and answers in JSON", e.Name())
		default:
			r.ok("%s: the key is set; only a search, which may cost, would show whether it is accepted", e.Name())
		}
	}
	if !c.Config.Researching.EnableWebSearch {
		r.note("", "researching.enable_web_search is false: search engines are not used")
	}
	return nil
}

// papers queries each index of paper_search.
func (c Checker) papers(ctx context.Context, r report) error {
	if !c.Config.Researching.EnablePaperSearch {
		return nil
	}
	outside := fetch.New(fetch.Settings{})
	defer outside.Close()
	index, err := wiring.NewPaperIndex(c.Config, outside, fetch.NewLocalPace())
	if err != nil {
		return err
	}
	askIndexes(ctx, r, index)
	return nil
}

// askIndexes reports the answer of each index.
func askIndexes(ctx context.Context, r report, index *papers.Search) {
	for _, answer := range index.Ask(ctx, papers.ParseQuery("electron", 1)) {
		label := papers.Label(answer.Provider)
		switch {
		case answer.Err != nil:
			r.failed(indexHint(answer.Provider, answer.Err), "%v", answer.Err)
		case len(answer.Papers) == 0:
			r.note("", "%s answers, but has no paper on electrons: its form may have changed", label)
		default:
			r.ok("%s answers in %s", label, answer.Took.Round(time.Millisecond))
		}
	}
}

// indexHint returns advice for an index that does not answer.
func indexHint(provider string, err error) string {
	key := map[string]string{papers.OpenAlex: "OPENALEX_API_KEY",
		papers.SemanticScholar: "SEMANTIC_SCHOLAR_API_KEY"}[provider]
	var status *fetch.StatusError
	switch {
	case errors.As(err, &status) && key != "" && status.Status < http.StatusInternalServerError:
		return "Check " + key + ", or unset it: this index is then left out."
	case errors.As(err, &status):
		return "Try again later. Searches go on with the other indexes."
	}
	return "Check this machine's way to the internet. Searches go on with the other indexes."
}

// ownTools starts the MCP servers of tools.file.
func (c Checker) ownTools(ctx context.Context, r report) error {
	if c.Config.Tools.File == "" {
		return nil
	}
	own, err := wiring.NewOwnTools(c.Config)
	if err != nil {
		return err
	}
	defer own.Close()
	correct := "Correct it in " + c.Config.Tools.File + "."
	for _, s := range own.Servers {
		offered, problems, err := s.Tools(ctx)
		if err != nil {
			r.failed(correct, "%v", err)
			continue
		}
		var names []string
		for _, t := range offered {
			names = append(names, t.Name())
		}
		r.ok("MCP server %s: %s", s.MCPServer.Name, strings.Join(names, ", "))
		for _, p := range problems {
			r.failed(correct, "%s", p)
		}
	}
	return nil
}

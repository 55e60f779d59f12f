package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/prompts"
)

func promptsCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "prompts [NAME]", Short: "List the prompt templates, or print a built-in one", Args: cobra.MaximumNArgs(1),
		Long: "List the prompt templates and show which of them prompts.dir overrides. With NAME, such as " +
			"en/decide.system.tmpl,\nprint that built-in template as a starting point for your own.",
		RunE: p.command(listPrompts),
	}
}

// promptLine is one line of `prompts --json`.
type promptLine struct {
	Name string `json:"name"`
	Own  bool   `json:"own"` // replaced by a file in prompts.dir
}

func listPrompts(_ context.Context, s *session, args []string) error {
	if len(args) == 1 {
		text, ok := prompts.BuiltIn(args[0])
		if !ok {
			return view.Usage(view.Hint(fmt.Errorf("there is no template %q", args[0]), "`nightdesk prompts` lists them."))
		}
		_, err := fmt.Fprint(s.Out, text)
		return err
	}
	own, err := wiring.OwnPrompts(s.Config)
	if err != nil {
		return err
	}
	var files []string
	if own != nil {
		files = own.Files()
	}
	table := view.NewTable(s.Console)
	for _, name := range prompts.Names() {
		line, shown := promptLine{Name: name, Own: slices.Contains(files, name)}, name
		if line.Own {
			shown += "  (yours)"
		}
		if err := table.Row(line, shown); err != nil {
			return err
		}
	}
	return table.End()
}

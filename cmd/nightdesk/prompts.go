package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
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

func listPrompts(_ context.Context, cfg config.Config, con *view.Console, args []string) error {
	if len(args) == 1 {
		text, ok := prompts.BuiltIn(args[0])
		if !ok {
			return view.Usage(view.Hint(fmt.Errorf("there is no template %q", args[0]), "`nightdesk prompts` lists them."))
		}
		_, err := fmt.Fprint(con.Out, text)
		return err
	}
	own, err := wiring.OwnPrompts(cfg)
	if err != nil {
		return err
	}
	var files []string
	if own != nil {
		files = own.Files()
	}
	for _, name := range prompts.Names() {
		line := promptLine{Name: name, Own: slices.Contains(files, name)}
		if con.JSON {
			err = con.PrintJSON(line, true)
		} else {
			mark := ""
			if line.Own {
				mark = "  (yours)"
			}
			_, err = fmt.Fprintln(con.Out, name+mark)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

func configCommand(p *program) *cobra.Command {
	var example bool
	var preset string
	cmd := &cobra.Command{
		Use: "config", Short: "Show the effective settings and where each comes from", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			switch {
			case example:
				return printText(s, config.Example())
			case preset != "":
				return showPreset(s, preset)
			}
			return showConfig(s)
		}),
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a settings file with every setting, explained")
	cmd.Flags().StringVar(&preset, "preset", "", "print the settings of a preset, to copy into a settings file: "+
		view.Either(config.PresetNames()...))
	return cmd
}

func printText(s *session, text string) error {
	_, err := fmt.Fprint(s.Out, text)
	return err
}

func showPreset(s *session, name string) error {
	presets := config.Presets()
	i := slices.IndexFunc(presets, func(p config.Preset) bool { return p.Name == name })
	if i < 0 {
		return view.Usage(fmt.Errorf("there is no preset %q: use %s", name, view.Either(config.PresetNames()...)))
	}
	return printText(s, presets[i].File)
}

func showConfig(s *session) error {
	table := view.NewTable(s.Console, "SETTING", "VALUE", "SOURCE")
	for _, e := range s.Config.Effective() {
		if err := table.Row(e, e.Path, e.Value, e.Source); err != nil {
			return err
		}
	}
	return table.End()
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// execute runs one command line and returns its exit code: 0 ok, 1 failed, 2 wrong use, 3 partial result.
func execute(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	p := &program{Console: &view.Console{In: stdin, Out: stdout, Err: stderr}, getenv: getenv,
		overrides: map[string]string{}}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return view.ExitOK
	}
	code := view.ExitCode(err)
	if !p.ran {
		code = view.ExitUsage
		if !view.IsUsage(err) { // an error of cobra, which has no hint yet
			err = view.Hint(err, howToCall(cmd))
		}
	}
	view.PrintError(stderr, err)
	return code
}

// howToCall returns a usage hint for a command line that was not understood.
func howToCall(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return fmt.Sprintf("`%s --help` lists the commands.", cmd.CommandPath())
	}
	return fmt.Sprintf("Usage: %s; `%s --help` says more.", cmd.UseLine(), cmd.CommandPath())
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "nightdesk",
		Short: "Research many topics through the night, one cited report each",
		Long: `nightdesk researches topics and writes one cited report for each.

  nightdesk run "How do heat pumps work in winter?" --kb ./papers
  nightdesk enqueue topics.txt && nightdesk worker

` + "`nightdesk help` also lists the topics of the manual, `nightdesk help TOPIC` prints one." + `

Exit codes: 0 ok, 1 failed, 2 wrong use, 3 partial result.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.configFile, "config", "", "settings file (default: "+config.DefaultFile+" when it exists)")
	flags.BoolVar(&p.JSON, "json", false, "print JSON: one document, or one line per item")
	p.settingFlag(flags, "data-dir", "data_dir", "where knowledge bases, reports and the local Redis live")
	p.settingFlag(flags, "log-level", "log_level", "trace, debug, info, warn or error")
	root.AddCommand(runCommand(p), askCommand(p), enqueueCommand(p), workerCommand(p), scheduleCommand(p),
		schedulerCommand(p),
		listCommand(p), statusCommand(p), watchCommand(p),
		reportCommand(p), digestCommand(p), purgeCommand(p), answerCommand(p), cancelCommand(p),
		controlCommand(p, "pause", "Pause a run, or all runs of a batch; their deadlines do not move", "paused", desk.Pause),
		controlCommand(p, "resume", "Continue a paused run, or all paused runs of a batch", "resumed", desk.Resume),
		retryCommand(p), replayCommand(p), narrateCommand(p), verifyCommand(p), kbCommand(p),
		configCommand(p), promptsCommand(p),
		stylesCommand(p), doctorCommand(p), healthCommand(p), serveCommand(p), searchCommand(p),
		upCommand(p), mcpCommand(p))
	help := helpCommand(p)
	root.AddCommand(help)
	root.SetHelpCommand(help)
	return root
}

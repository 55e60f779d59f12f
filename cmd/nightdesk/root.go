package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
)

// app is one call of the program.
type app struct {
	getenv func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	service     string // name of the command when it runs until it is stopped
	configFile  string
	json        bool
	deadline    string            // of the runs that are enqueued
	batchBudget topicqueue.Budget // that they share
	incremental bool              // --incremental
	overrides   map[string]string // settings given as flags, by path

	cfg  config.Config
	log  zerolog.Logger
	ran  bool               // the command line was understood
	made knowledge.Embedder // once it was asked for
}

// run executes one command line and returns its exit code: 0 ok, 1 failed, 2 wrong use, 3 partial result.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, overrides: map[string]string{}}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if !a.ran {
		code = exitUsage
		if !errors.As(err, new(usageError)) { // cobra's: not understood, so nobody has said what to do
			err = hintError{err, howToCall(cmd)}
		}
	}
	if !errors.As(err, new(hintError)) {
		err = a.withRoom(err)
	}
	printError(stderr, err)
	return code
}

// howToCall says how a command is called that was not understood.
func howToCall(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return fmt.Sprintf("`%s --help` lists the commands.", cmd.CommandPath())
	}
	return fmt.Sprintf("Usage: %s; `%s --help` says more.", cmd.UseLine(), cmd.CommandPath())
}

func (a *app) root() *cobra.Command {
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
	flags.StringVar(&a.configFile, "config", "", "settings file (default: "+config.DefaultFile+" when it exists)")
	flags.BoolVar(&a.json, "json", false, "print JSON: one document, or one line per item")
	a.settingFlag(root, true, "data-dir", "data_dir", "where knowledge bases, reports and the local Redis live")
	a.settingFlag(root, true, "log-level", "log_level", "trace, debug, info, warn or error")
	root.AddCommand(a.runCommand(), a.enqueueCommand(), a.workerCommand(), a.scheduleCommand(), a.schedulerCommand(), a.listCommand(), a.statusCommand(), a.watchCommand(),
		a.reportCommand(), a.digestCommand(), a.purgeCommand(), a.cancelCommand(), a.pauseCommand(), a.resumeCommand(), a.retryCommand(), a.replayCommand(), a.verifyCommand(), a.kbCommand(), a.configCommand(), a.doctorCommand(), a.healthCommand(), a.serveCommand())
	help := a.helpCommand()
	root.AddCommand(help)
	root.SetHelpCommand(help)
	return root
}

// settingFlag adds a flag that sets one setting. persistent: for the sub-commands too.
func (a *app) settingFlag(cmd *cobra.Command, persistent bool, name, path, usage string) {
	flags := cmd.Flags()
	if persistent {
		flags = cmd.PersistentFlags()
	}
	flags.Func(name, usage, func(value string) error {
		a.overrides[path] = value
		return nil
	})
}

// command wraps the work of a command: the settings are loaded first.
func (a *app) command(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := a.load()
		if err != nil {
			return err
		}
		a.ran, a.cfg = true, cfg
		a.log = a.logger(zerolog.InfoLevel)
		for _, n := range cfg.Notices() {
			a.say("%s", n)
		}
		redis.SetLogger(redisLog{a}) // its own would write to standard error
		return do(cmd, args)
	}
}

func (a *app) load() (config.Config, error) {
	file := a.configFile
	if file == "" {
		file = config.DefaultFile
	}
	cfg, err := config.Load(file, a.configFile != "", a.getenv, a.overrides)
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// logger returns the one logger of this process. least: the level to use unless the user has set one.
func (a *app) logger(least zerolog.Level) zerolog.Logger {
	level := least
	if a.cfg.Given("log_level") {
		if l, err := zerolog.ParseLevel(a.cfg.LogLevel); err == nil {
			level = l
		}
	}
	var out io.Writer = a.stderr
	if isTerminal(a.stderr) {
		out = zerolog.ConsoleWriter{Out: a.stderr, TimeFormat: "15:04:05"}
	}
	with := zerolog.New(out).Level(level).With().Timestamp()
	if a.service != "" && out == a.stderr { // a person at a terminal knows
		host, name := serviceName()
		with = with.Str("host", host).Str(a.service, name)
	}
	return with.Logger()
}

// redisLog writes the client's own messages to the log of the process.
type redisLog struct{ a *app }

func (l redisLog) Printf(_ context.Context, format string, v ...any) {
	l.a.log.Debug().Str("from", "redis").Msgf(format, v...)
}

// printJSON prints one document on standard output; line: on a line of its own.
func (a *app) printJSON(v any, line bool) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if !line {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Exit codes of every command.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitPartial = 3
)

// usageError marks an error that another command line or setting would avoid.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// resultError ends a command whose result was printed already with an exit code.
type resultError struct {
	error
	code int
}

func (e resultError) Unwrap() error { return e.error }

// hintError adds what to do to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

func exitCode(err error) int {
	var result resultError
	if errors.As(err, &result) {
		return result.code
	}
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "nightdesk: %s\n", strings.TrimSpace(err.Error()))
	var hint hintError
	if errors.As(err, &hint) {
		fmt.Fprintf(w, "  %s\n", hint.hint)
	}
}

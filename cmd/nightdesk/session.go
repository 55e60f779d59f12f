package main

import (
	"context"
	"errors"
	"io"
	"maps"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// program is one invocation of the program.
type program struct {
	*view.Console
	getenv     func(string) string
	configFile string
	overrides  map[string]string // settings given as flags, by path
	ran        bool              // the command line was understood
}

// settingFlag adds a flag that sets one setting.
func (p *program) settingFlag(flags *pflag.FlagSet, name, path, usage string) {
	flags.Func(name, usage, func(value string) error {
		p.overrides[path] = value
		return nil
	})
}

// settingSwitch adds a settingFlag that needs no value: naming the flag turns the setting on.
func (p *program) settingSwitch(cmd *cobra.Command, name, path, usage string) {
	cmd.Flags().BoolFunc(name, usage, func(value string) error {
		p.overrides[path] = value
		return nil
	})
}

// session is one execution of a command.
type session struct{ desk.Settings }

// withDesk opens a desk, calls do with it, and closes it.
func (s *session) withDesk(ctx context.Context, open desk.Opener, do func(*desk.Desk) error) error {
	d, err := open(ctx, s.Settings)
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.Close())
}

// onDesk wraps the work of a command that needs a desk.
func (p *program) onDesk(open desk.Opener,
	do func(context.Context, *session, *desk.Desk, []string) error) func(*cobra.Command, []string) error {
	return p.command(func(ctx context.Context, s *session, args []string) error {
		return s.withDesk(ctx, open, func(d *desk.Desk) error { return do(ctx, s, d, args) })
	})
}

// newBases returns the knowledge bases that a session uses.
func newBases(s *session) *bases.Bases { return bases.New(s.Config, s.Console) }

// withRun calls do with the storage and the full id of a run in it.
func (s *session) withRun(ctx context.Context, name string, do func(*desk.Desk, string) error) error {
	return s.withDesk(ctx, desk.OpenStored, func(d *desk.Desk) error {
		id, err := d.FullID(ctx, name)
		if err != nil {
			return err
		}
		return do(d, id)
	})
}

// work is the body of a command.
type work func(ctx context.Context, s *session, args []string) error

// command wraps the work of a command: it loads the settings first.
func (p *program) command(do work) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := p.load(nil)
		if err != nil {
			return err
		}
		p.ran = true
		p.Log = newLogger(cfg, p.Console, zerolog.InfoLevel)
		for _, n := range cfg.Notices() {
			p.Say("%s", n)
		}
		redis.SetLogger(redisLog{p.Console}) // the default logger writes to standard error
		return do(cmd.Context(), &session{desk.Settings{Config: cfg, Console: p.Console, Load: p.load}}, args)
	}
}

// load implements desk.Settings.Load.
func (p *program) load(more map[string]string) (config.Config, error) {
	file := p.configFile
	if file == "" {
		file = config.DefaultFile
	}
	overrides := maps.Clone(p.overrides)
	maps.Copy(overrides, more)
	cfg, err := config.Load(file, p.configFile != "", p.getenv, overrides)
	if err != nil {
		return cfg, view.Usage(err)
	}
	return cfg, nil
}

// newLogger returns the logger of this process. least is the level unless the user has set one.
func newLogger(cfg config.Config, con *view.Console, least zerolog.Level) zerolog.Logger {
	level := least
	if cfg.Given("log_level") {
		if l, err := zerolog.ParseLevel(cfg.LogLevel); err == nil {
			level = l
		}
	}
	var out io.Writer = con.Err
	if view.IsTerminal(con.Err) {
		out = zerolog.ConsoleWriter{Out: con.Err, TimeFormat: "15:04:05"}
	}
	with := zerolog.New(out).Level(level).With().Timestamp()
	if con.Service != "" && out == con.Err { // not needed at a terminal
		host, name := serviceName()
		with = with.Str("host", host).Str(con.Service, name)
	}
	return with.Logger()
}

// redisLog sends messages of the Redis client to the log of the process.
type redisLog struct{ con *view.Console }

func (l redisLog) Printf(_ context.Context, format string, v ...any) {
	l.con.Log.Debug().Str("from", "redis").Msgf(format, v...)
}

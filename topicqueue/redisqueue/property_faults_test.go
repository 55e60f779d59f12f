package redisqueue_test

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// errCrash is the error seen by a dead worker.
var errCrash = errors.New("the worker died here")

// Faults of a call at one of its Redis commands.
const (
	faultNone   = iota
	faultCrash  // before the command
	faultLost   // after it: its reply never comes
	faultFreeze // before it, until the world lets it go on
	faultTwice  // its first reply is lost, and the client sends it again by itself
)

// fault affects one call at its command number at, counted from 0.
type fault struct {
	kind, at int
	commands int
	dead     bool
	key      string // of the run
	executed int    // how many scripts did on the run what they were called for
	frozen   chan struct{}
	thaw     chan struct{}
}

type faultKey struct{}

// faults is the hook that applies the fault in the context of a call.
type faults struct{}

func (faults) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (faults) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		f, ok := ctx.Value(faultKey{}).(*fault)
		if !ok {
			return next(ctx, cmd)
		}
		return f.around(cmd, func() error { return next(ctx, cmd) }, cmd)
	}
}

func (faults) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		f, ok := ctx.Value(faultKey{}).(*fault)
		if !ok {
			return next(ctx, cmds)
		}
		return f.around(nil, func() error { return next(ctx, cmds) }, cmds...)
	}
}

// around executes a command, or several at once, unless the worker dies.
func (f *fault) around(script redis.Cmder, do func() error, cmds ...redis.Cmder) error {
	crash := func() error {
		f.dead = true
		for _, cmd := range cmds {
			cmd.SetErr(errCrash)
		}
		return errCrash
	}
	at := f.commands
	f.commands++
	if f.dead || f.kind == faultCrash && at == f.at {
		return crash()
	}
	if f.kind == faultFreeze && at == f.at {
		f.frozen <- struct{}{}
		<-f.thaw
	}
	err := do()
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // the same command comes again, with its text
		f.commands--
		if f.kind == faultFreeze && at == f.at {
			f.kind = faultNone
		}
		return err
	}
	executed := err == nil && script != nil && f.isScript(script)
	if executed {
		f.executed++
	}
	if f.kind == faultTwice && at == f.at {
		err = do()
		if executed {
			f.executed++
		}
	}
	if f.kind == faultLost && at == f.at {
		return crash()
	}
	return err
}

// isScript reports whether a command is a script on the run that had an effect.
func (f *fault) isScript(cmd redis.Cmder) bool {
	args := cmd.Args()
	if name := cmd.Name(); name != "eval" && name != "evalsha" || len(args) < 4 || args[3] != f.key {
		return false
	}
	reply, err := cmd.(*redis.Cmd).Slice()
	return err == nil && len(reply) > 0 && reply[0] != "changed"
}

package tasks

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"
)

// AsynqLog writes asynq's own messages to the worker's log. Its errors are logged as warnings because asynq retries.
type AsynqLog struct{ Log zerolog.Logger }

func (l AsynqLog) Debug(args ...any) { l.Log.Debug().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Info(args ...any)  { l.Log.Debug().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Warn(args ...any) {
	message, level := fmt.Sprint(args...), zerolog.WarnLevel
	// the worker has already logged the reason
	if strings.HasPrefix(message, "Retry exhausted") || strings.HasPrefix(message, "revoke task") {
		level = zerolog.DebugLevel
	}
	l.Log.WithLevel(level).Str("from", "asynq").Msg(message)
}
func (l AsynqLog) Error(args ...any) { l.Log.Warn().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Fatal(args ...any) { l.Log.Error().Str("from", "asynq").Msg(fmt.Sprint(args...)) }

package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// Governor decides when a try may be sent to a model server, for all workers together. Implementations are safe for
// concurrent use and share their state by Call.Server.
type Governor interface {
	// Acquire waits for the permit of one try. It returns topicqueue.ErrServerDown for a call that is not patient;
	// any other error means that ctx has ended or the governor was closed.
	Acquire(ctx context.Context, call topicqueue.Call) (topicqueue.Permit, error)
	// Release returns a permit and reports how the try ended. The verdict is zero if it is not known in time.
	Release(ctx context.Context, p topicqueue.Permit, end topicqueue.CallEnd) topicqueue.CallVerdict
}

// ungoverned permits every try at once.
type ungoverned struct{}

func (ungoverned) Acquire(context.Context, topicqueue.Call) (topicqueue.Permit, error) {
	return topicqueue.Permit{}, nil
}

func (ungoverned) Release(context.Context, topicqueue.Permit, topicqueue.CallEnd) topicqueue.CallVerdict {
	return topicqueue.CallVerdict{}
}

// account returns a one-way hash that identifies whose limits apply: use (chat, embedding or speech, which providers
// limit separately), provider, address and key.
func account(use string, s RoleSettings) string {
	sum := sha256.Sum256([]byte(use + "\x00" + string(s.Provider) + "\x00" + s.BaseURL + "\x00" + s.APIKey))
	return hex.EncodeToString(sum[:10])
}

const maxWhy = 300 // bytes

// callEnd returns the report of an outcome to the governor.
func callEnd(what outcome, ex *wire.Exchange, err error) topicqueue.CallEnd {
	end := topicqueue.CallEnd{Tokens: ex.Said.Prompt + ex.Said.Completion}
	if isOutage(what) {
		end.Why = topicqueue.Clip(err.Error(), maxWhy)
	}
	if end.Tokens == 0 {
		end.Tokens = -1
	}
	switch what {
	case answered:
		end.Outcome = topicqueue.CallAnswered
	case refused, reshaped, again: // the server did not process it
		end.Outcome, end.Tokens = topicqueue.CallUp, 0
	case busy:
		end.Outcome, end.Tokens = topicqueue.CallThrottled, 0
	case late:
		end.Outcome = topicqueue.CallLate
	case broken:
		end.Outcome, end.Tokens = topicqueue.CallUnavailable, 0
		var said *ProviderError
		var foreign *wire.Foreign
		if errors.As(err, &said) && !isGateway(said.Status) || errors.As(err, &foreign) && foreign.Odd {
			end.Outcome = topicqueue.CallFailed
		}
	case interrupted:
		end.Outcome, end.Tokens = topicqueue.CallInterrupted, -1
	default:
		end.Outcome = topicqueue.CallUp
	}
	return end
}

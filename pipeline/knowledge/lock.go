package knowledge

import (
	"context"
	"errors"
	"fmt"
)

// locked runs do while no other goroutine or process runs locked with the same path. It uses SQLite's locks, which work
// alike on all systems and are released when a process ends. It waits for the lock until ctx ends.
func locked(ctx context.Context, path string, do func() error) (err error) {
	b, err := connect(path, create)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for {
		// The end of ctx must not release the lock while do is running.
		tx, err := b.write.BeginTx(context.WithoutCancel(ctx), nil)
		switch {
		case code(err) == codeBusy && ctx.Err() == nil:
			continue
		case err != nil:
			return fmt.Errorf("lock %s: %w", path, err)
		}
		return errors.Join(do(), tx.Rollback())
	}
}

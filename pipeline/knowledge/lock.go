package knowledge

import (
	"context"
	"errors"
	"fmt"
)

// locked runs do while no other goroutine or process is in locked with the same path. SQLite's own locks are used: they
// work alike on all systems, and the end of a process frees them. It waits until ctx ends.
func locked(ctx context.Context, path string, do func() error) (err error) {
	b, err := connect(path, create)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for {
		// The end of ctx must not free the lock before do has ended.
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

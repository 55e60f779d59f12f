//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed python/probe.py
var probeSource string

// probe proves that a program cannot do what it must not: better no tool than a sandbox that is none. It looks for a file
// that this process has just written and for a variable of its environment.
func (b *Bubblewrap) probe(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "nightdesk-probe")
	if err != nil {
		return fmt.Errorf("probe the sandbox: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	mark := filepath.Join(dir, "mark")
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("probe the sandbox: %w", err)
	}
	if err := os.WriteFile(mark, []byte("host"), 0o644); err != nil {
		return fmt.Errorf("probe the sandbox: %w", err)
	}
	limits := b.limits
	limits.Time = 20 * time.Second
	probed := &Bubblewrap{bwrap: b.bwrap, python: b.python, limits: limits}
	out, err := probed.Run(ctx, fmt.Sprintf("MARK = %q\nMEMORY = %d\nDISK = %d\n", mark, limits.Memory, limits.Disk)+probeSource)
	switch {
	case err != nil:
		return err
	case out.Exit != 0 || out.Ended != EndedItself || strings.TrimSpace(out.Stdout) != "isolated":
		return fmt.Errorf("bubblewrap does not isolate programs on this machine: %s", lastLine(out))
	}
	// The limit of files is kept from outside.
	out, err = probed.Run(ctx, "while True:\n    for i in range(100000): open(str(i), 'w').close()\n")
	if err == nil && out.Ended != EndedFiles {
		err = fmt.Errorf("bubblewrap does not isolate programs on this machine: their files cannot be counted (%s)", lastLine(out))
	}
	return err
}

// lastLine returns the reason for a failed probe.
func lastLine(out Outcome) string {
	text := strings.TrimSpace(out.Stderr)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	switch {
	case text != "":
		return text
	case out.Ended != EndedItself:
		return "limit of " + string(out.Ended)
	}
	return fmt.Sprintf("exit status %d", out.Exit)
}

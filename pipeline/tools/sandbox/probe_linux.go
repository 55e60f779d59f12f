//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"
	"time"
)

//go:embed python/probe.py
var probeSource string

// probe proves that the sandbox isolates programs, and returns an error otherwise. It looks for the host's temporary
// directory, for inherited descriptors and for a variable of this process's environment.
func (b *Bubblewrap) probe(ctx context.Context) error {
	limits := b.limits
	limits.Time = 20 * time.Second
	probed := &Bubblewrap{bwrap: b.bwrap, python: b.python, limits: limits}
	out, err := probed.Run(ctx, fmt.Sprintf("HOST = %q\nEXPORT = %d\nMEMORY = %d\nDISK = %d\n",
		os.TempDir(), exportFD, limits.Memory, limits.Disk)+probeSource)
	switch {
	case err != nil:
		return err
	case out.Exit != 0 || out.Ended != EndedItself || strings.TrimSpace(out.Stdout) != "isolated":
		return fmt.Errorf("bubblewrap does not isolate programs on this machine: %s", lastLine(out))
	}
	// The limit of files is enforced from outside.
	out, err = probed.Run(ctx, "while True:\n    for i in range(100000): open(str(i), 'w').close()\n")
	if err == nil && out.Ended != EndedFiles {
		err = fmt.Errorf("bubblewrap does not isolate programs on this machine: the number of their files cannot "+
			"be limited (%s)",
			lastLine(out))
	}
	return err
}

// probePackages imports NumPy and Matplotlib in the sandbox within its limits, and returns those that a program can
// use.
func (b *Bubblewrap) probePackages(ctx context.Context) (found []string, err error) {
	limits := b.limits
	limits.Time = 20 * time.Second
	probed := &Bubblewrap{bwrap: b.bwrap, python: b.python, limits: limits}
	for _, name := range []string{"NumPy", "Matplotlib"} {
		out, err := probed.Run(ctx, "import "+strings.ToLower(name))
		if err != nil {
			return nil, err
		}
		if out.Exit == 0 && out.Ended == EndedItself {
			found = append(found, name)
		}
	}
	return found, nil
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

//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nightdesk/pipeline/tools/sandbox"
)

// TestProbeRefusesAWeakerBubblewrap: the probe rejects a bubblewrap that isolates less than requested, here by omitting
// or adding an argument.
func TestProbeRefusesAWeakerBubblewrap(t *testing.T) { // sets PATH: not parallel
	inEach(t, long, func(t *testing.T, box sandbox.Sandbox) {
		if box.Name() != sandbox.NameBubblewrap {
			t.Skip("it is about bubblewrap")
		}
		bwrap, err := exec.LookPath("bwrap")
		if err != nil {
			t.Fatal(err)
		}
		path := os.Getenv("PATH")
		for _, tc := range []struct {
			name string
			edit string // of one argument: bash, with the array out and the argument a; skip leaves out more
			fits bool
		}{
			{name: "as it is", edit: `out+=("$a")`, fits: true},
			{name: "no filter of system calls", edit: `if [ "$a" = --seccomp ]; then skip=1; else out+=("$a"); fi`},
			{name: "processes of the host", edit: `[ "$a" = --unshare-pid ] || out+=("$a")`},
			{name: "variables of the host", edit: `[ "$a" = --clearenv ] || out+=("$a")`},
			{name: "a disk without end", edit: `if [ "$a" = --size ]; then skip=1; else out+=("$a"); fi`},
			{name: "a root that can be written", edit: `if [ "$a" = --remount-ro ]; then skip=1; else out+=("$a"); fi`},
			{name: "files of the host", edit: fmt.Sprintf(`[ "$a" = --remount-ro ] && out+=(--ro-bind %q %q); out+=("$a")`, os.TempDir(), os.TempDir())},
			{name: "everything of the host", edit: `[ "$a" = --remount-ro ] && out+=(--ro-bind /etc /etc --proc /proc); out+=("$a")`},
			{name: "another user", edit: `if [ "$a" = --uid ]; then out+=(--uid 1000); skip=1; else out+=("$a"); fi`},
		} {
			dir := t.TempDir()
			script := "#!/bin/bash\nout=(); skip=0\nfor a in \"$@\"; do\nif [ $skip -gt 0 ]; then skip=$((skip-1)); continue; fi\n" + tc.edit + "\ndone\nexec " + bwrap + " \"${out[@]}\"\n"
			if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			for at := dir; len(at) > len(os.TempDir()); at = filepath.Dir(at) { // for root, it is started as another user
				if err := os.Chmod(at, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+":"+path)
			_, err := sandbox.NewBubblewrap(t.Context(), sandbox.DefaultLimits(10*time.Second))
			if (err == nil) != tc.fits {
				t.Errorf("%s: %v", tc.name, err)
			}
			t.Logf("%s: %v", tc.name, err)
		}
	})
}

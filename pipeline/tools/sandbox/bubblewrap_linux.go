//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bubblewrap runs the system's Python in separate namespaces, without capabilities, behind a system call filter.
type Bubblewrap struct {
	bwrap, python string
	limits        Limits
	packages      []string
}

var (
	_ Sandbox  = (*Bubblewrap)(nil)
	_ Packaged = (*Bubblewrap)(nil)
)

// nobody is the user and group ID of a program inside the sandbox. If this process is root, it also applies outside,
// because the kernel does not limit the number of root's processes.
const nobody = 65534

// bubblewrapMemory is the minimum address space of a program. NumPy and Matplotlib map 400 MB at start.
const bubblewrapMemory = 768 << 20

// File descriptors of a program, in addition to standard input, output and error.
const (
	exportFD  = 3
	filterFD  = 4
	infoFD    = 5
	maxExport = maxFigures*(maxFigureBytes*4/3+512) + 1024
)

// NewBubblewrap returns the sandbox if this machine has bubblewrap and Python 3, and the probe proves that it isolates
// programs. The error says what is missing. limits.Memory is raised to 768 MB, for NumPy.
func NewBubblewrap(ctx context.Context, limits Limits) (Sandbox, error) {
	b := &Bubblewrap{limits: limits}
	b.limits.Memory = max(limits.Memory, bubblewrapMemory)
	var err error
	if b.bwrap, err = exec.LookPath("bwrap"); err != nil {
		return nil, errors.New("bubblewrap is not installed")
	}
	// not from a home directory, which does not exist in the sandbox
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if b.python, err = filepath.EvalSymlinks(path); err == nil {
			break
		}
	}
	if err != nil {
		return nil, errors.New("python3 is not in /usr/bin or /usr/local/bin")
	}
	if err := b.probe(ctx); err != nil {
		return nil, err
	}
	b.packages, err = b.probePackages(ctx)
	return b, err
}

// Packages returns which of NumPy and Matplotlib are usable on this machine.
func (b *Bubblewrap) Packages() []string { return b.packages }

// Name returns NameBubblewrap.
func (b *Bubblewrap) Name() string { return NameBubblewrap }

// Close does nothing.
func (b *Bubblewrap) Close(context.Context) error { return nil }

// arguments returns the arguments for bwrap. They expose only the parts of the host that Python needs, read-only.
func (b *Bubblewrap) arguments() []string {
	id := strconv.Itoa(nobody)
	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", id, "--gid", id, "--hostname", "sandbox", "--cap-drop", "ALL", "--new-session",
		"--die-with-parent", "--clearenv",
	}
	for _, e := range environment {
		args = append(args, "--setenv", e[0], e[1])
	}
	for _, dir := range []string{"/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	args = append(args, "--ro-bind", b.python, b.python, "--ro-bind", "/usr/lib", "/usr/lib")
	for _, path := range []string{
		"/usr/lib64", "/usr/share/zoneinfo", "/usr/share/matplotlib", "/usr/share/fonts", "/usr/share/fontconfig",
		"/etc/alternatives", "/etc/matplotlibrc", "/etc/fonts", "/var/cache/fontconfig",
	} {
		args = append(args, "--ro-bind-try", path, path)
	}
	if strings.HasPrefix(b.python, "/usr/local/") {
		args = append(args, "--ro-bind", "/usr/local/lib", "/usr/local/lib")
	}
	for _, device := range []string{"/dev/null", "/dev/zero", "/dev/urandom"} {
		args = append(args, "--dev-bind", device, device)
	}
	return append(args,
		"--size", strconv.Itoa(b.limits.Disk), "--perms", "0700", "--tmpfs", scratchDir, "--remount-ro", "/",
		"--chdir", scratchDir,
		"--seccomp", strconv.Itoa(filterFD), "--info-fd", strconv.Itoa(infoFD),
		b.python, "-B", "-s", "-c", bootSource)
}

// Run runs a program in its own namespaces.
func (b *Bubblewrap) Run(ctx context.Context, program string) (Outcome, error) {
	start := time.Now()
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(runCtx, b.limits.Time, errTime)
	defer cancel()
	full := func() { stop(errOutput) }
	stdout, stderr := &capped{limit: b.limits.Output, full: full}, &capped{limit: b.limits.Output, full: full}

	pipes, err := newPipes(3)
	if err != nil {
		return Outcome{}, fmt.Errorf("start %s: %w", b.bwrap, err)
	}
	defer pipes.close()
	cmd := exec.CommandContext(timed, b.bwrap, b.arguments()...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(given{
		Program: program, Chart: chartSource, Work: scratchDir, Export: &export{FD: exportFD, MaxFiles: maxFigures,
			MaxBytes: maxFigureBytes},
		Rlimits: map[string]int{
			"RLIMIT_AS": b.limits.Memory, "RLIMIT_CPU": int(b.limits.Time/time.Second) + 1, "RLIMIT_FSIZE": b.limits.Disk,
			"RLIMIT_NPROC": 64, "RLIMIT_NOFILE": 64, "RLIMIT_CORE": 0, "RLIMIT_MEMLOCK": 0, "RLIMIT_MSGQUEUE": 0,
		},
	}.encode())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{pipes[0].w, pipes[1].r, pipes[2].w} // exportFD, filterFD, infoFD
	cmd.WaitDelay = 2 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if err := cmd.Start(); err != nil {
		return Outcome{}, fmt.Errorf("start %s: %w", b.bwrap, err)
	}
	pipes[0].closeWriter()
	pipes[1].closeReader()
	pipes[2].closeWriter()

	exported := make(chan []byte, 1)
	go func() {
		body, _ := io.ReadAll(io.LimitReader(pipes[0].r, maxExport)) // keep the data before an error
		exported <- body
	}()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_, _ = pipes[1].w.Write(callFilter()) // fits into a pipe's buffer; harmless if bwrap has ended
		pipes[1].closeWriter()
		watchFiles(timed, pipes[2].r, b.limits.Files, func() { stop(errFiles) })
	}()
	err = cmd.Wait()
	finished := context.Cause(timed)
	cancel()
	pipes[2].closeReader()
	<-watched
	_ = pipes[0].r.SetReadDeadline(time.Now().Add(cmd.WaitDelay)) // no process can still have it open
	out := Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Files: decodeFigures(<-exported),
		Took: time.Since(start)}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if why, ok := ended(finished); ok {
		out.Ended, out.Exit = why, -1
		return out, nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Outcome{}, fmt.Errorf("run %s: %w", b.bwrap, err)
	}
	out.Exit = cmd.ProcessState.ExitCode()
	switch {
	case out.Exit == 128+int(syscall.SIGXCPU):
		out.Ended = EndedTime
	case out.Exit != 0 && outOfMemory(out.Stderr):
		out.Ended = EndedMemory
	}
	return out, nil
}

// watchFiles counts the files in the scratch directory until ctx ends, and calls full above limit. The kernel has no
// such limit: it counts only file data, so millions of empty files would fill its memory. info: the output of bwrap's
// --info-fd.
func watchFiles(ctx context.Context, info io.Reader, limit int, full func()) {
	var about struct {
		PID int `json:"child-pid"`
	}
	if json.NewDecoder(io.LimitReader(info, 4096)).Decode(&about) != nil || about.PID <= 0 {
		return
	}
	work := fmt.Sprintf("/proc/%d/root%s", about.PID, scratchDir)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var s syscall.Statfs_t
		if syscall.Statfs(work, &s) == nil && s.Type == tmpfsMagic && s.Files-s.Ffree > uint64(limit)+1 {
			full()
			return
		}
	}
}

const tmpfsMagic = 0x01021994

// decodeFigures parses the figures that boot.py exports. It stops at the first malformed one.
func decodeFigures(body []byte) []File {
	var files []File
	dec := json.NewDecoder(bytes.NewReader(body))
	for len(files) < maxFigures {
		var f struct{ Name, Body string }
		if dec.Decode(&f) != nil {
			break
		}
		content, err := base64.StdEncoding.DecodeString(f.Body)
		if err == nil && len(content) <= maxFigureBytes && isFigureName(f.Name) && len(f.Name) <= 255 {
			files = append(files, File{Name: f.Name, Body: content})
		}
	}
	return files
}

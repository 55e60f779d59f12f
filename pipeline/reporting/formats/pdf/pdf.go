// Package pdf prints the HTML page of a report as PDF with an installed browser or office suite.
//
// Entry point: Find.
package pdf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limit is the maximum duration of printing a report.
const Limit = time.Minute

// ErrNoProgram means that no program is installed that can print pages.
var ErrNoProgram = errors.New("neither Chromium nor Chrome nor LibreOffice is installed, so there is no PDF")

// Browsers and Offices are the program names to look for in PATH, in order of preference.
var (
	Browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}
	Offices  = []string{"soffice", "libreoffice"}
)

// Printer prints pages with an external program.
type Printer struct {
	Program string // path of the program
	Limit   time.Duration
	office  bool
}

// Find returns a printer for the preferred installed program. The error is ErrNoProgram.
func Find() (Printer, error) {
	for _, name := range append(append([]string(nil), Browsers...), Offices...) {
		if path, err := exec.LookPath(name); err == nil {
			base := filepath.Base(name)
			return Printer{path, Limit, base == "soffice" || base == "libreoffice"}, nil
		}
	}
	return Printer{}, ErrNoProgram
}

// Print returns a page as PDF. A program that exceeds the limit is killed with all processes that it started. The
// page's content security policy forbids loading and running anything. A browser also has no network access.
func (p Printer) Print(ctx context.Context, page []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "nightdesk-pdf-")
	if err != nil {
		return nil, fmt.Errorf("create a folder to print the report in: %w", err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.pdf")
	if err := os.WriteFile(in, page, 0o600); err != nil {
		return nil, fmt.Errorf("write the page to print: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	cmd := exec.CommandContext(timed, p.Program, p.arguments(dir, in, out)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "LANG=" + cmp.Or(os.Getenv("LANG"),
		"C.UTF-8")}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = nil, &limited{w: &said, left: 4 << 10}
	killWhole(cmd)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	body, readErr := os.ReadFile(out)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fmt.Errorf("print the report with %s: stopped after %s", p.Program, p.Limit)
	case readErr == nil && bytes.HasPrefix(body, []byte("%PDF-")):
		return body, nil
	case err != nil:
		return nil, fmt.Errorf("print the report with %s: %w: %s", p.Program, err, lastLine(said.String()))
	}
	return nil, fmt.Errorf("print the report with %s: it wrote no PDF: %s", p.Program, lastLine(said.String()))
}

func (p Printer) arguments(dir, in, out string) []string {
	if p.office {
		return []string{"--headless", "-env:UserInstallation=" + fileURL(filepath.Join(dir, "profile")),
			"--convert-to", "pdf:writer_web_pdf_Export", "--outdir", dir, in}
	}
	args := []string{"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--proxy-server=127.0.0.1:9",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--no-pdf-header-footer", "--print-to-pdf=" + out}
	if os.Geteuid() == 0 { // Chromium's sandbox does not work for root
		args = append(args, "--no-sandbox")
	}
	return append(args, fileURL(in))
}

func fileURL(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// limited keeps the first left bytes written to it.
type limited struct {
	w    *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.w.Write(p[:n])
	l.left -= n
	return len(p), nil
}

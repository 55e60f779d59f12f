package pdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/topicqueue/scaletest"
)

// program writes a script that stands for a browser.
func program(t *testing.T, script string) pdf.Printer {
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return pdf.Printer{Program: path, Limit: time.Minute}
}

const outFile = `for a in "$@"; do case "$a" in --print-to-pdf=*) out="${a#*=}";; esac; done; `

func TestPrograms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script, want, err string
		limit             time.Duration
	}{
		"works":                 {script: outFile + `printf '%%PDF-1.4 x' > "$out"`, want: "%PDF-1.4 x"},
		"works, and then fails": {script: outFile + `printf '%%PDF-1.4 x' > "$out"; exit 1`, want: "%PDF-1.4 x"},
		"writes something else": {script: outFile + `echo no > "$out"`, err: "it wrote no PDF"},
		"fails":                 {script: "echo first >&2; echo no display >&2; exit 3", err: "exit status 3: no display"},
		"hangs":                 {script: "sleep 600 & sleep 600", limit: 200 * time.Millisecond, err: "stopped after 200ms"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, test.script)
			if test.limit > 0 {
				p.Limit = test.limit
			}
			got, err := p.Print(t.Context(), []byte("<p>x"))
			wrong := err != nil && !strings.Contains(err.Error(), test.err)
			if string(got) != test.want || (err == nil) != (test.err == "") || wrong {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestInstalled prints a hostile report with the program that is installed.
func TestInstalled(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	p, err := pdf.Find()
	if err != nil {
		t.Skip(err)
	}
	page, err := formats.HTML(formats.Report{Title: "Dunes",
		Tree: report.Read("# Dunes\n\nThey move. <script>document.title='x'</script>\n\n" + strings.Repeat("w", 1<<20))})
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Print(t.Context(), page)
	if err != nil || !bytes.HasPrefix(body, []byte("%PDF-")) {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

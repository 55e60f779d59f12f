package pdf

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// maxOutput bounds what pdftotext may write, in bytes: a word takes about 110.
const maxOutput = 512 << 20

// ErrNoPoppler means that the program pdftotext is not on PATH.
var ErrNoPoppler = errors.New("pdftotext is not installed")

// Poppler reads the pages of a file with the program pdftotext, which ends with ctx. Nothing of the content reaches its
// arguments. The error wraps ErrNoPoppler, ErrEncrypted, ErrDamaged or ErrTooLarge or is context.Cause(ctx).
func Poppler(ctx context.Context, data []byte) ([]Page, error) {
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		return nil, ErrNoPoppler
	}
	file, err := os.CreateTemp("", "nightdesk-*.pdf")
	if err != nil {
		return nil, fmt.Errorf("copy the PDF for pdftotext: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("copy the PDF for pdftotext: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "-q", "-bbox", "-enc", "UTF-8", file.Name(), "-")
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start pdftotext: %w", err)
	}
	var complaint clipped
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start pdftotext: %w", err)
	}
	pages, tooLarge := parseBoxes(out)
	if tooLarge {
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case tooLarge:
		return nil, ErrTooLarge
	case errors.As(err, &exit) && bytes.Contains(complaint.data, []byte("password")):
		return nil, ErrEncrypted
	case err != nil && len(pages) == 0:
		return nil, fmt.Errorf("%w: pdftotext: %w", ErrDamaged, err)
	}
	return pages, nil
}

// clipped keeps the first bytes that are written to it.
type clipped struct{ data []byte }

func (c *clipped) Write(p []byte) (int, error) {
	c.data = append(c.data, p[:min(len(p), 1000-len(c.data))]...)
	return len(p), nil
}

// parseBoxes reads what pdftotext -bbox writes: one element a line.
func parseBoxes(r io.Reader) (pages []Page, tooLarge bool) {
	in := bufio.NewScanner(&io.LimitedReader{R: r, N: maxOutput})
	in.Buffer(make([]byte, 64<<10), 1<<20)
	size := 0
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		size += len(in.Bytes()) + 1
		switch {
		case strings.HasPrefix(line, "<page "):
			if len(pages) >= maxPages {
				return pages, true
			}
			pages = append(pages, Page{Width: attribute(line, "width"), Height: attribute(line, "height")})
		case strings.HasPrefix(line, "<word ") && len(pages) > 0:
			head, text, ok := strings.Cut(line, ">")
			if !ok {
				continue
			}
			w := Word{
				Text: html.UnescapeString(strings.TrimSuffix(text, "</word>")),
				X0:   attribute(head, "xMin"), Y0: attribute(head, "yMin"), X1: attribute(head, "xMax"), Y1: attribute(head, "yMax"),
			}
			w.Text = strings.ToValidUTF8(w.Text, "\ufffd")
			// The program does not say which way a word runs: a long word that is higher than wide runs up or down.
			w.Upright = len(w.Text) < 4 || w.X1-w.X0 > w.Y1-w.Y0
			if w.Text != "" && w.X0 < w.X1 && w.Y0 < w.Y1 {
				p := &pages[len(pages)-1]
				p.Words = append(p.Words, w)
			}
		}
	}
	return pages, size >= maxOutput
}

func attribute(line, key string) float64 {
	_, rest, ok := strings.Cut(line, key+`="`)
	if !ok {
		return 0
	}
	value, _, _ := strings.Cut(rest, `"`)
	f, _ := strconv.ParseFloat(value, 64)
	return f
}

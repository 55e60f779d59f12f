package tools

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"strings"
	"time"

	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/topicqueue"
)

//go:embed run_code.md
var runCodeDescription string

// codeTool is run_code.
type codeTool struct {
	box    sandbox.Sandbox
	limits sandbox.Limits
	slots  chan struct{} // programs that run
}

// NewRunCode returns run_code on a sandbox with these limits. One is enough for a process: together its calls run at most
// as many programs at once as there are processors, others wait.
func NewRunCode(box sandbox.Sandbox, limits sandbox.Limits) Tool {
	return &codeTool{box: box, limits: limits, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Name returns run_code.
func (t *codeTool) Name() string { return "run_code" }

// Description returns what the model reads.
func (t *codeTool) Description() string {
	packages := "There is only the standard library."
	if t.box.Name() != sandbox.NameWASM {
		packages = "Beside the standard library, NumPy and Matplotlib may be there."
	}
	return strings.TrimSpace(strings.ReplaceAll(runCodeDescription, "{{.}}", packages))
}

// Call runs a program. One that fails, or that a limit ends, is a Result with Failed set: what it printed is no evidence.
func (t *codeTool) Call(ctx context.Context, call Call) (Result, error) {
	program := unfenced(call.Query)
	switch {
	case strings.TrimSpace(program) == "":
		return Result{Failed: true, Text: "run_code needs a Python program; it was called without one."}, nil
	case len(program) > sandbox.MaxProgram:
		return Result{Failed: true, Text: fmt.Sprintf("The program has %d bytes; run_code takes at most %d.", len(program), sandbox.MaxProgram)}, nil
	}
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	out, err := t.box.Run(ctx, program)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{Failed: true, Text: fmt.Sprintf("run_code could not run the program: %v.", err)}, nil
	}
	stdout, stderr := plain(out.Stdout), plain(out.Stderr)
	if out.Ended != sandbox.EndedItself || out.Exit != 0 {
		return Result{Failed: true, Text: t.failure(out, stdout, stderr)}, nil
	}
	figures, refused := sandbox.Figures(out.Files)
	result := Result{Figures: make([]Figure, len(figures))}
	var text strings.Builder
	if stdout != "" {
		text.WriteString(stdout + "\n")
	}
	for i, f := range figures {
		result.Figures[i] = newFigure(f)
		fmt.Fprintf(&text, "\nFigure %s (%s)", result.Figures[i].Path, f.Name)
	}
	if stdout == "" && len(figures) == 0 {
		result.Text = "The program ended without an error, but it printed nothing and left no figure: print the results.\n" + notes(stderr, refused) + listing(program)
		return result, nil
	}
	text.WriteString(listing(program))
	source := topicqueue.Source{
		Kind: topicqueue.SourceCode, Title: "Output of a Python program", Text: strings.TrimSpace(text.String()), RetrievedAt: time.Now().UTC(),
	}
	source.Hash = topicqueue.TextHash(source.Text)
	source.Document = pagesDir + source.Hash + pagesExt // its place in the bundle: there is no other
	source.ID = topicqueue.SourceID(source)
	result.Sources = []topicqueue.Source{source}
	result.Text = strings.TrimSpace("[1] Output of a Python program (exit status 0)\n" + source.Text + "\n\n" + notes(stderr, refused))
	return result, nil
}

// failure says first why a program is no use, in one line, then what it wrote.
func (t *codeTool) failure(out sandbox.Outcome, stdout, stderr string) string {
	var why string
	switch out.Ended {
	case sandbox.EndedTime:
		why = fmt.Sprintf("it ran longer than %s and was ended; let it compute less", t.limits.Time)
	case sandbox.EndedMemory:
		why = "it needed more memory than programs get; let it hold less at once"
	case sandbox.EndedOutput:
		why = fmt.Sprintf("it printed more than %d bytes and was ended; print results only", t.limits.Output)
	case sandbox.EndedFiles:
		why = fmt.Sprintf("it wrote more than %d files or %d MB and was ended", t.limits.Files, t.limits.Disk>>20)
	default:
		if why = strings.TrimSpace(stderr[strings.LastIndexByte(stderr, '\n')+1:]); why == "" {
			why = fmt.Sprintf("it ended with exit status %d", out.Exit)
		}
	}
	text := "The program failed: " + why + "."
	if out.Ended == sandbox.EndedItself {
		text += fmt.Sprintf("\nExit status %d.", out.Exit)
	}
	const enough = 4000 // bytes: the end of a traceback, the begin of an output
	if stderr != "" {
		text += "\n\nstderr:\n" + stderr[max(0, len(stderr)-enough):]
	}
	if stdout != "" {
		text += "\n\nstdout:\n" + stdout[:min(len(stdout), enough)]
	}
	return strings.ToValidUTF8(text, "")
}

// listing shows the program below its output.
func listing(program string) string { return "\n\nThe program:\n" + strings.TrimRight(program, "\n") }

// notes are remarks of the sandbox that are no output.
func notes(stderr string, refused []string) string {
	var lines []string
	for _, r := range refused {
		lines = append(lines, "Not kept: "+r)
	}
	if stderr != "" {
		lines = append(lines, "stderr:\n"+stderr)
	}
	return strings.Join(lines, "\n")
}

// plain makes text of what a program wrote.
func plain(output string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(output, "\ufffd"), "\x00", ""))
}

// unfenced takes a program out of the fence in which models like to put it.
func unfenced(query string) string {
	program := strings.ReplaceAll(strings.ToValidUTF8(query, "\ufffd"), "\r\n", "\n")
	trimmed := strings.TrimSpace(program)
	if !strings.HasPrefix(trimmed, "```") || !strings.HasSuffix(trimmed, "```") || len(trimmed) < 6 {
		return program
	}
	_, body, ok := strings.Cut(strings.TrimSuffix(trimmed, "```"), "\n")
	if !ok {
		return program
	}
	return body
}

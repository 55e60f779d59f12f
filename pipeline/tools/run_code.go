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

// Interpreter runs programs, several in parallel; see sandbox.Python.
type Interpreter interface {
	Run(ctx context.Context, program string) (sandbox.Outcome, error)
}

// codeTool is the tool run_code.
type codeTool struct {
	box    Interpreter
	limits sandbox.Limits
	slots  chan struct{} // semaphore of running programs
}

// NewRunCode returns run_code on a sandbox with these limits. One tool is enough for a process. Its calls run at most
// GOMAXPROCS programs in parallel; others wait.
func NewRunCode(box Interpreter, limits sandbox.Limits) Tool {
	return &codeTool{box: box, limits: limits, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Name returns run_code.
func (t *codeTool) Name() string { return NameRunCode }

// Description returns the description for the model.
func (t *codeTool) Description() string { return strings.TrimSpace(runCodeDescription) }

// Call runs a program. Its source is only the standard output; program, figures and warnings are in Text. If the
// program fails, exceeds a limit or prints nothing, the Result has Failed set.
func (t *codeTool) Call(ctx context.Context, call Call) (Result, error) {
	program := Unfenced(call.Query)
	switch {
	case strings.TrimSpace(program) == "":
		return Result{Failed: true, Text: "run_code needs a Python program; it was called without one."}, nil
	case len(program) > sandbox.MaxProgram:
		return Result{Failed: true, Text: fmt.Sprintf("The program has %d bytes; run_code takes at most %d.", len(program),
			sandbox.MaxProgram)}, nil
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
	if stdout == "" {
		return Result{Failed: true,
			Text: "The program printed nothing, so that there is nothing to cite: print each result in a full sentence, also " +
				"what a figure shows.\n" +
				notes(stderr, nil) + listing(program)}, nil
	}
	figures, refused := sandbox.Figures(out.Files)
	const header = "[1] Output of a Python program (exit status 0)\n"
	result := Result{Figures: make([]Figure, len(figures))}
	source := topicqueue.Source{
		Kind: topicqueue.SourceCode, Title: "Output of a Python program", RetrievedAt: time.Now().UTC(),
		Text: stdout, Hash: topicqueue.TextHash(stdout), Offset: len(header),
	}
	var about strings.Builder
	if len(figures) > 0 {
		about.WriteByte('\n')
	}
	for i, f := range figures {
		result.Figures[i] = newFigure(f)
		source.Figures = append(source.Figures, result.Figures[i].Figure)
		fmt.Fprintf(&about, "Figure %s (%s): %s\n", result.Figures[i].Path, f.Name, f.Title)
	}
	result.Text = header + stdout + "\n" + about.String() + notes(stderr, refused) + listing(program)
	// The document is the answer, which also contains the program. Programs with the same output therefore stay
	// distinct.
	source.Document = topicqueue.PagePath(topicqueue.TextHash(result.Text))
	source.ID = topicqueue.SourceID(source)
	result.Sources = []topicqueue.Source{source}
	return result, nil
}

// failure explains in one line why a program failed, followed by its output.
func (t *codeTool) failure(out sandbox.Outcome, stdout, stderr string) string {
	var why string
	switch out.Ended {
	case sandbox.EndedTime:
		why = fmt.Sprintf("it ran longer than %s and was stopped; reduce the computation", t.limits.Time)
	case sandbox.EndedMemory:
		why = "it needed more memory than programs get; let it hold less at once"
	case sandbox.EndedOutput:
		why = fmt.Sprintf("it printed more than %d bytes and was stopped; print only results", t.limits.Output)
	default:
		if why = strings.TrimSpace(stderr[strings.LastIndexByte(stderr, '\n')+1:]); why == "" {
			why = fmt.Sprintf("it ended with exit status %d", out.Exit)
		}
	}
	text := "The program failed: " + why + "."
	if out.Ended == sandbox.EndedItself {
		text += fmt.Sprintf("\nExit status %d.", out.Exit)
	}
	const enough = 4000 // bytes: the end of a traceback, the start of an output
	if stderr != "" {
		text += "\n\nstderr:\n" + stderr[max(0, len(stderr)-enough):]
	}
	if stdout != "" {
		text += "\n\nstdout:\n" + stdout[:min(len(stdout), enough)]
	}
	return strings.ToValidUTF8(text, "")
}

// listing returns the program, to be shown below its output.
func listing(program string) string { return "\nThe program:\n" + strings.TrimRight(program, "\n") }

// notes returns remarks that are not output: refused files, one per line, and stderr.
func notes(stderr string, refused []string) string {
	var b strings.Builder
	for _, r := range refused {
		b.WriteString("Not kept: " + r + "\n")
	}
	if stderr != "" {
		b.WriteString("stderr:\n" + stderr + "\n")
	}
	return b.String()
}

// plain returns the output of a program as trimmed, valid UTF-8 without NUL bytes.
func plain(output string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(output, "\ufffd"), "\x00", ""))
}

// Unfenced removes the code fence that models often put around a program.
func Unfenced(query string) string {
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

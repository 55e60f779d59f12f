package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

func (a *app) replayCommand() *cobra.Command {
	var language, style, out string
	var extractive bool
	cmd := &cobra.Command{
		Use: "replay RUN", Short: "Write a run's report again from its stored evidence, without any search", Args: cobra.ExactArgs(1),
		Long: `Write a run's report again from its stored evidence, without any search: with the model that is configured now
(LLM_MODEL, LLM_WRITER_MODEL), in another language or citation style. The stored report stays as it is: the new one goes to
standard output, or to --out FILE.`,
		RunE: a.command(func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), args[0], language, style, out, extractive)
		}),
	}
	cmd.Flags().StringVar(&language, "language", "", "language of the report (default: that of the run)")
	cmd.Flags().StringVar(&style, "citation-style", "", "anchors or numbered (default: that of the run)")
	cmd.Flags().StringVar(&out, "out", "", "file for the report (default: standard output)")
	cmd.Flags().BoolVar(&extractive, "extractive", false, "of verbatim quotes alone, without a model")
	return cmd
}

// replayResult is what `replay --json` prints.
type replayResult struct {
	RunID            string             `json:"run_id"`
	Language         string             `json:"language"`
	CitationStyle    string             `json:"citation_style"`
	Model            string             `json:"model"` // of the writer; empty: none
	Title            string             `json:"title"`
	Words            int                `json:"words"`
	Citations        []string           `json:"citations"`
	Removed          []citation.Removal `json:"removed"`
	Fallbacks        []string           `json:"fallbacks"`
	Report           string             `json:"report,omitempty"`   // path of --out
	Markdown         string             `json:"markdown,omitempty"` // without --out
	LLMCalls         int                `json:"llm_calls"`
	PromptTokens     int                `json:"prompt_tokens"`
	CompletionTokens int                `json:"completion_tokens"`
}

func (a *app) replay(ctx context.Context, runID, language, style, out string, extractive bool) error {
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	in, err := jobs.ReadBundle(ctx, store, runID)
	if err != nil {
		return noBundle(err)
	}
	o := &in.Run.Options
	switch style {
	case "", topicqueue.CitationAnchors, topicqueue.CitationNumbered:
		o.CitationStyle = cmp.Or(style, o.CitationStyle)
	default:
		return usageError{fmt.Errorf("--citation-style %s: it is %s or %s", style, topicqueue.CitationAnchors, topicqueue.CitationNumbered)}
	}
	o.Language = cmp.Or(language, o.Language)
	r := reporting.Reporter{Now: time.Now}
	result := replayResult{RunID: runID, Language: o.Language, CitationStyle: o.CitationStyle}
	if !extractive {
		model, err := a.model(nil)
		if err != nil {
			return err
		}
		if model != nil { // a nil *Client in the interface would not be nil
			var mu sync.Mutex
			r.Model = llm.Recorded(model, func(_ context.Context, u topicqueue.Usage) {
				mu.Lock()
				defer mu.Unlock()
				result.LLMCalls++
				result.PromptTokens += u.PromptTokens
				result.CompletionTokens += u.CompletionTokens
			})
			result.Model = a.cfg.LLM.Writer.Name
		} else {
			a.say("no LLM_MODEL: the report is made of verbatim quotes")
		}
	}
	report, err := r.Report(ctx, in)
	if err != nil {
		return err
	}
	result.Title, result.Words, result.Citations, result.Removed, result.Fallbacks = report.Title, report.Words, report.Cited, report.Removed, report.Fallbacks
	if out != "" {
		if err := os.WriteFile(out, []byte(report.Markdown), 0o644); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		result.Report = out
	} else {
		result.Markdown = report.Markdown
	}
	if err := a.printReplay(result); err != nil {
		return err
	}
	if len(report.Fallbacks) > 0 && !extractive {
		err := fmt.Errorf("the model failed at %s, whose local form was used: %s", counted(len(report.Fallbacks), "step"), report.Fallbacks[0])
		return resultError{hintError{err, "`nightdesk doctor --model` says whether it answers; --extractive does without it."}, exitPartial}
	}
	return nil
}

func (a *app) printReplay(r replayResult) error {
	if a.json {
		return a.printJSON(r, false)
	}
	if r.LLMCalls > 0 {
		a.say("%d model calls, %d prompt and %d completion tokens", r.LLMCalls, r.PromptTokens, r.CompletionTokens)
	}
	if r.Report != "" {
		fmt.Fprintln(a.stdout, r.Report)
		return nil
	}
	_, err := fmt.Fprint(a.stdout, r.Markdown)
	return err
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/search"
)

func mcpCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve tools for an assistant (Model Context Protocol, standard input and output)",
		Long: `Serve nightdesk's functions as Model Context Protocol tools over standard input and output: start
research, list runs, read a run and its report, search all reports, ask about a report. It needs a
queue and a worker: run "nightdesk up" as well.`,
		Args: cobra.NoArgs,
		RunE: p.onDesk(desk.OpenWorking, serveMCP),
	}
}

func serveMCP(ctx context.Context, s *session, d *desk.Desk, _ []string) (err error) {
	index := d.Index()
	defer func() { err = errors.Join(err, index.Close()) }()
	a := assistant{session: s, desk: d, find: index.SearchNew}
	server := sdk.NewServer(&sdk.Implementation{Name: "nightdesk", Version: versionText()}, nil)
	a.offer(server)
	err = server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(s.In), Writer: unclosed{s.Out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) { // stopped, or the assistant has closed the connection
		return nil
	}
	return err
}

// unclosed is a writer whose Close does nothing.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// assistant answers the tool calls of an assistant.
type assistant struct {
	*session
	desk *desk.Desk
	find func(context.Context, search.Query) (search.Results, error)
}

func (a assistant) offer(server *sdk.Server) {
	offer(server, "start_research", "Put topics into the research queue. Each becomes a run, which takes minutes to "+
		"hours; read_run says how far it is. The same topic in the same batch is one run.", a.desk.Enqueue)
	offer(server, "list_runs", "List runs, those of the newest batch first.",
		func(ctx context.Context, r desk.ListRequest) (desk.RunList, error) {
			r.Limit = cmp.Or(r.Limit, 50)
			return a.desk.List(ctx, r)
		})
	offer(server, "read_run", "Show the progress of a run: its state, blocks and questions.", a.desk.Run)
	offer(server, "answer_run", "Answer the question that a run is waiting for.", a.desk.Answer)
	offer(server, "read_report", "Read the report of a run, as Markdown with references.",
		func(ctx context.Context, r desk.RunRequest) (string, error) {
			id, err := a.desk.FullID(ctx, r.RunID)
			if err != nil {
				return "", err
			}
			file, err := a.desk.Reports().Report(ctx, id, reports.Markdown)
			return string(file.Body), err
		})
	offer(server, "search_reports", "Find words in the reports and claims of all runs.",
		a.find)
	offer(server, "ask_report", "Ask about a report. The answer comes from what the run has read and cites it.", a.ask)
}

// offer adds a tool to the server. Its answer is text, or a document as JSON.
func offer[Arguments, Answer any](server *sdk.Server, name, about string,
	do func(context.Context, Arguments) (Answer, error)) {
	sdk.AddTool(server, &sdk.Tool{Name: name, Description: about},
		func(ctx context.Context, _ *sdk.CallToolRequest, in Arguments) (*sdk.CallToolResult, any, error) {
			answer, err := do(ctx, in)
			if err != nil {
				return nil, nil, view.WithHint(err)
			}
			text, isText := any(answer).(string)
			if !isText {
				var out bytes.Buffer
				if err := (&view.Console{Out: &out}).PrintJSON(answer, true); err != nil {
					return nil, nil, err
				}
				text = out.String()
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
}

// ask answers a question about a report in this process, like the command ask.
func (a assistant) ask(ctx context.Context, r desk.AskRequest) (any, error) {
	if !a.Config.LLM.Enabled() {
		return a.desk.Quote(ctx, r)
	}
	s := &session{a.Settings}
	s.Console = &view.Console{In: bytes.NewReader(nil), Out: io.Discard, Err: io.Discard, Log: a.Log}
	return answerHere(ctx, s, r)
}

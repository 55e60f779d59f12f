package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/cmd/nightdesk/wiring"
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
		RunE: p.command(func(ctx context.Context, s *session, _ []string) error {
			return s.withWorkingDesk(ctx, false, func(d *wiring.Desk) error { return serveMCP(ctx, s, d) })
		}),
	}
}

func serveMCP(ctx context.Context, s *session, d *wiring.Desk) (err error) {
	store, err := wiring.OpenStore(ctx, s.cfg)
	if err != nil {
		return err
	}
	index, err := wiring.OpenSearch(s.cfg, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	a := assistant{session: s, desk: api.New(api.Services{
		Queue: d.Queue, Dispatcher: d.Dispatcher, Store: store, Schedules: s.schedules(d), Log: s.Log,
		Enqueue: apiOrders{s, d}.enqueue,
		Search: func(ctx context.Context, q search.Query) (search.Results, error) {
			if _, err := index.CatchUp(ctx, nil); err != nil {
				s.Log.Warn().Err(err).Msg("search may miss new reports")
			}
			return index.Search(ctx, q)
		},
	})}
	server := sdk.NewServer(&sdk.Implementation{Name: "nightdesk", Version: versionText()}, nil)
	a.offer(server)
	err = server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(s.In), Writer: unclosed{s.Out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) { // stopped, or the assistant has closed the connection
		return nil
	}
	return err
}

type toolAnswer = *sdk.CallToolResult

// unclosed is a writer whose Close does nothing.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// assistant answers tool calls of an assistant through the HTTP API of this process.
type assistant struct {
	*session
	desk http.Handler
}

// Arguments of the tools.
type (
	runArguments struct {
		RunID string `json:"run_id" jsonschema:"id of a run, research_..."`
	}
	listArguments struct {
		Batch string `json:"batch,omitempty" jsonschema:"only runs of this batch"`
		State string `json:"state,omitempty" jsonschema:"only runs in this state, such as completed or failed"`
		Limit int    `json:"limit,omitempty" jsonschema:"at most this number; 20 if absent"`
	}
	searchArguments struct {
		Query string `json:"query" jsonschema:"words; \"words in a row\", beginning*, -unwanted"`
		Batch string `json:"batch,omitempty" jsonschema:"only runs of this batch"`
	}
	askArguments struct {
		RunID    string `json:"run_id" jsonschema:"id of a run with a report"`
		Question string `json:"question"`
	}
)

func (a assistant) offer(server *sdk.Server) {
	offer(server, "start_research", "Put topics into the research queue. Each becomes a run, which takes minutes to "+
		"hours; read_run says how far it is. The same topic in the same batch is one run.",
		func(ctx context.Context, order api.Order) (toolAnswer, error) {
			body, err := json.Marshal(order)
			if err != nil {
				return nil, err
			}
			return a.request(ctx, http.MethodPost, "/v1/batches", nil, body)
		})
	offer(server, "list_runs", "List runs, those of the newest batch first.",
		func(ctx context.Context, in listArguments) (toolAnswer, error) {
			most := strconv.Itoa(cmp.Or(in.Limit, 20))
			return a.get(ctx, "/v1/runs", "batch", in.Batch, "state", in.State, "limit", most)
		})
	offer(server, "read_run", "Show the progress of a run: its state, blocks and questions.",
		func(ctx context.Context, in runArguments) (toolAnswer, error) {
			return a.get(ctx, "/v1/runs/"+url.PathEscape(in.RunID))
		})
	offer(server, "read_report", "Read the report of a run, as Markdown with references.",
		func(ctx context.Context, in runArguments) (toolAnswer, error) {
			return a.get(ctx, "/v1/runs/"+url.PathEscape(in.RunID)+"/report")
		})
	offer(server, "search_reports", "Find words in the reports and claims of all runs.",
		func(ctx context.Context, in searchArguments) (toolAnswer, error) {
			return a.get(ctx, "/v1/search", "q", in.Query, "batch", in.Batch)
		})
	offer(server, "ask_report", "Ask about a report. The answer comes from what the run has read and cites it.", a.ask)
}

// offer adds a tool to the server.
func offer[Arguments any](server *sdk.Server, name, about string,
	do func(context.Context, Arguments) (toolAnswer, error)) {
	sdk.AddTool(server, &sdk.Tool{Name: name, Description: about},
		func(ctx context.Context, _ *sdk.CallToolRequest, in Arguments) (toolAnswer, any, error) {
			answer, err := do(ctx, in)
			return answer, nil, err
		})
}

// get sends a GET request to the API. It omits empty parameters.
func (a assistant) get(ctx context.Context, path string, pairs ...string) (toolAnswer, error) {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return a.request(ctx, http.MethodGet, path, query, nil)
}

// request calls the API of this process. An error status becomes a tool result that is marked as an error.
func (a assistant) request(ctx context.Context, method, path string, query url.Values,
	body []byte) (toolAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, method, path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unknown name: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer := recorded{header: http.Header{}}
	a.desk.ServeHTTP(&answer, r)
	return said(answer.body.String(), answer.status != http.StatusOK), context.Cause(ctx)
}

// recorded records a response of the API.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header { return r.header }

func (r *recorded) WriteHeader(status int) { r.status = cmp.Or(r.status, status) }

func (r *recorded) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func said(text string, refused bool) toolAnswer {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: refused}
}

// ask answers a question about a report, like the command ask.
func (a assistant) ask(ctx context.Context, in askArguments) (toolAnswer, error) {
	about, err := storedRun(ctx, a.session, in.RunID)
	if err != nil {
		return nil, view.WithHint(err)
	}
	var out bytes.Buffer
	s := a.with(a.cfg)
	s.Console = &view.Console{In: bytes.NewReader(nil), Out: &out, Err: io.Discard, JSON: true, Log: a.Log}
	if err := ask(ctx, s, about, in.Question, intake.Flags{}); err != nil {
		return nil, view.WithHint(err)
	}
	return said(out.String(), false), nil
}

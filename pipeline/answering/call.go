package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/answer"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

const (
	maxLine     = 300   // bytes of a message or query within a line
	maxQuery    = 1_000 // bytes of a query, except programs and addresses
	maxAsked    = 16    // calls processed per turn; a model that makes more is out of control
	maxFailures = 3     // failed calls listed in a result
	parallel    = 4     // parallel calls
)

// argumentSchema is the default schema of tools. The tool's description explains the query.
var argumentSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},` +
	`"required":["query"],"additionalProperties":false}`)

// outcome is the result of a call.
type outcome struct {
	id      string // such as block_1/2.1: block, turn, ordinal
	turn    int    // turn of the call, counted from 1
	tool    string
	query   string
	problem string       // why there is no result, for the model; empty: see answer
	made    bool         // the tool was called
	answer  tools.Answer // of a call that was made
	sources []int        // indexes in work.sources
	left    int          // tool calls left to the model after this turn
}

// act makes the calls of one turn in parallel and adds them to the conversation. Every requested call counts, even an
// invalid one. Calls beyond the limit are rejected.
func (w *work) act(ctx context.Context, said string, calls []llm.ToolCall) error {
	w.steps++
	t := turn{said: said}
	first := len(w.outcomes)
	ids := map[string]bool{}
	for i, c := range calls[:min(len(calls), maxAsked)] {
		o := w.check(c)
		o.id, o.turn = fmt.Sprintf("%s/%d.%d", w.block.ID, w.asked, i+1), w.asked
		if c.ID == "" || ids[c.ID] { // an id that all servers accept
			c.ID = fmt.Sprintf("call%05d", 100*len(w.turns)+i)
		}
		ids[c.ID] = true
		c.Arguments = "{}"
		if o.query != "" {
			c.Arguments = argumentsOf(o.query)
		}
		t.calls = append(t.calls, made{c, len(w.outcomes)})
		w.outcomes = append(w.outcomes, o)
	}
	for i := range w.outcomes[first:] {
		w.outcomes[first+i].left = w.callsLeft()
	}
	w.turns = append(w.turns, t)
	return w.call(ctx, said, first)
}

// check validates a call. The outcome of an invalid call has a problem.
func (w *work) check(c llm.ToolCall) outcome {
	if w.callsLeft() == 0 {
		return outcome{tool: c.Name, problem: "This call was not made: no tool calls are left. Answer now."}
	}
	w.calls++
	name := topicqueue.Clip(topicqueue.OneLine(c.Name), maxLine)
	tool, ok := w.tools.Meant(name)
	if !ok {
		return outcome{tool: name, problem: fmt.Sprintf("There is no tool %q. The tools are: %s.", name,
			strings.Join(w.tools.Names(), ", "))}
	}
	o := outcome{tool: tool}
	query, ok := queryOf(c.Arguments)
	if own, _ := w.tools.Lookup(tool); tools.SchemaOf(own) != nil {
		query, ok = strings.TrimSpace(tools.QueryOf(own, strings.ToValidUTF8(c.Arguments, ""))), true
	}
	if !w.tools.Verbatim(tool) {
		query = topicqueue.Clip(topicqueue.OneLine(query), maxQuery)
	}
	key := tools.Key(tool, query)
	switch {
	case !ok, key == "":
		o.problem = `This call was not made: its arguments must be {"query": "..."} with a query that is not empty.`
	case w.issued[key]:
		o.query = query
		o.problem = "This call was not made again: its result stands above."
	default:
		o.query, o.made = query, true
		w.issued[key] = true
	}
	return o
}

// searchItself searches for the user's words with the best available search if the model found nothing.
func (w *work) searchItself(ctx context.Context) error {
	query := topicqueue.Clip(topicqueue.OneLine(w.run.Topic), maxQuery)
	first := len(w.outcomes)
	for _, name := range []string{tools.NameReportEvidence, tools.NameRAGHybrid, tools.NameRAGNaive,
		tools.NameWebSearch, tools.NamePaperSearch} {
		_, ok := w.tools.Lookup(name)
		if key := tools.Key(name, query); !ok || key == "" || w.issued[key] || w.calls >= w.maxCalls {
			continue
		}
		w.calls++
		w.issued[tools.Key(name, query)] = true
		w.outcomes = append(w.outcomes, outcome{id: fmt.Sprintf("%s/%d.0", w.block.ID, w.asked), turn: max(1, w.asked),
			tool: name, query: query, made: true, left: w.callsLeft()})
		break
	}
	if first == len(w.outcomes) {
		return nil
	}
	if len(w.turns) == 0 {
		w.turns = append(w.turns, turn{})
	}
	last := &w.turns[len(w.turns)-1]
	last.own = append(last.own, first)
	return w.call(ctx, "", first)
}

// call makes the calls from index first on and processes their results.
func (w *work) call(ctx context.Context, said string, first int) error {
	if err := w.emitThought(ctx, said, w.outcomes[first:]); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range w.outcomes[first:] {
		o := &w.outcomes[first+i]
		if o.made {
			group.Go(func() error { return w.make(groupCtx, o) })
		}
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	for i := range w.outcomes[first:] {
		w.take(first + i)
	}
	return nil
}

// make makes one call, whose result the journal of the runner keeps.
func (w *work) make(ctx context.Context, o *outcome) (err error) {
	o.answer, err = w.Runner.Call(ctx, w.run.ID, o.tool, tools.Call{ToolID: o.id, Query: o.query})
	if o.answer.Failed {
		o.problem = topicqueue.Clip(topicqueue.OneLine(o.answer.Text), maxQuery)
	}
	return err
}

// take assigns citation ids to the sources of an outcome.
func (r *lookups) take(i int) {
	o := &r.outcomes[i]
	if o.problem != "" {
		if o.made && len(r.failures) < maxFailures {
			r.failures = append(r.failures, fmt.Sprintf("%s for %q failed: %s", o.tool,
				topicqueue.Clip(topicqueue.OneLine(o.query), maxLine), topicqueue.Clip(o.problem, maxLine)))
		}
		return
	}
	for _, s := range o.answer.Sources {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		if s.ID == "" {
			s.ID = topicqueue.SourceID(s)
		}
		at, known := r.marked[s.ID]
		if !known {
			at = len(r.sources)
			r.marked[s.ID] = at
			r.sources = append(r.sources, source{Source: s, outcome: i,
				id: topicqueue.BlockCitationID(r.block.Number(), at+1)})
		}
		o.sources = append(o.sources, at)
	}
}

// argumentsOf returns a query as the arguments of a call.
func argumentsOf(query string) string {
	text, _ := json.Marshal(map[string]string{"query": query}) // strings always encode
	return string(text)
}

// queryOf parses the arguments of a call: an object with a query, an object with a single string under another name, or
// the query itself.
func queryOf(arguments string) (string, bool) {
	arguments = strings.TrimSpace(strings.ToValidUTF8(arguments, ""))
	schema, err := answer.Compile(argumentSchema)
	if err != nil {
		return "", false
	}
	if value, problems := schema.Extract(arguments, false); problems == nil {
		var args struct {
			Query string `json:"query"`
		}
		if json.Unmarshal(value, &args) == nil {
			return strings.TrimSpace(args.Query), args.Query != ""
		}
	}
	var object map[string]any
	if json.Unmarshal([]byte(arguments), &object) == nil {
		text, texts := "", 0
		for _, v := range object {
			if s, ok := v.(string); ok {
				text, texts = s, texts+1
			}
		}
		return strings.TrimSpace(text), texts == 1 && strings.TrimSpace(text) != ""
	}
	var text string
	if json.Unmarshal([]byte(arguments), &text) != nil {
		text = arguments
	}
	return text, text != "" && !strings.ContainsAny(text, "{}[]")
}

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
)

// TestRecord compares everything that users get with testdata/record: the commands and their flags, the JSON of each
// command, the API, the tools of the MCP server, the CSV table, and the bundles of twelve runs. One set-up serves all
// of it. Its workers do one task at a time, so that a run always takes the same way.
//
// `go test ./cmd/nightdesk -run TestRecord -update` rewrites the files. A commit that changes them names what users get
// instead. Two sets of cases are recorded elsewhere: the citation check in pipeline/citation (TestVerifyVectors, with
// testdata/verify*.jsonl), and the claim check in pipeline/citation/support (TestPlantedReport) and
// pipeline/judging (exam_test.go).
func TestRecord(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.research()
	r.recordCommandList()
	r.recordCommands()
	r.recordBundles()
	r.recordServer()
	r.recordMCP()
	r.recordControl() // last: its batch would be seen by the others
	r.finish()
}

// newRecord prepares a desk whose programs see no tool and no setting of this machine.
func newRecord(t *testing.T) *record {
	f := newFleet(t, 0)
	f.stub.Models = []string{"stub"}
	f.stub.Converse = func(q llmtest.Question) (string, []llmtest.Call, bool) {
		if !strings.Contains(q.User, "[CIT-1-01]") {
			return "", []llmtest.Call{{Name: "rag_hybrid", Query: "quays and cranes"}}, true
		}
		return "The harbour inspects quays and cranes every 10 days [CIT-1-01].", nil, true
	}
	var model []string
	for _, v := range f.env {
		if name, _, _ := strings.Cut(v, "="); name == "REDIS_URL" || strings.HasPrefix(name, "LLM_") {
			model = append(model, v)
		}
	}
	f.env = append(model, "HOME="+f.dir, "EMBEDDING_MODEL=none", "PATH="+f.dir, "TMPDIR="+os.TempDir(), "GORACE="+os.Getenv("GORACE"),
		"NIGHTDESK_LOG_LEVEL=error", "NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS=1")
	r := &record{fleet: f, written: map[string]bool{}}
	r.write("foreign.md", "# Quays\n\nQuays are inspected [1]. Cranes are not [2].\n\n## References\n\n[1] https://a.example/quays\n")
	r.write("foreign.jsonl", `{"url":"https://a.example/quays","title":"Quays","text":"Quays are inspected."}`)
	return r
}

// write writes a file into the directory of the desk.
func (r *record) write(name, text string) {
	r.t.Helper()
	if err := writeFile(filepath.Join(r.dir, name), text); err != nil {
		r.t.Fatal(err)
	}
}

// presets are those of the first eight runs, in their order.
var presets = []string{"quick", "medium", "deep", "shallow"}

// research makes the runs: four with a model and four without one; then two nights of a schedule, with and without a
// model. Between the nights, the documents change.
func (r *record) research() {
	for _, batch := range []string{"model", "plain"} {
		r.enqueuePresets(batch)
		r.output(slices.Concat([]string{"schedule", "add", "nightly-" + batch, "--topics", batch + "-nightly.txt"},
			strings.Fields("--cron @yearly --kb docs --preset quick --incremental"))...)
		r.night(batch, batch)
	}
	r.changeDocuments()
	for _, batch := range []string{"model", "plain"} {
		r.night(batch)
	}
}

// enqueuePresets puts one topic for each preset into a batch.
func (r *record) enqueuePresets(batch string) {
	topic := benchtest.Topic
	if batch == "plain" { // the documents themselves must answer
		topic = func(i int) string {
			return fmt.Sprintf("How does the harbour inspect its %s and %s?", benchtest.Subjects[i], benchtest.Subjects[i+1])
		}
	}
	var list strings.Builder
	for i, preset := range presets {
		fmt.Fprintf(&list, `{"topic":%q,"preset":%q,"id":%q,"tags":"first"}`+"\n", topic(i), preset, batch+"-"+preset)
	}
	r.write(batch+".jsonl", list.String())
	r.write(batch+"-nightly.txt", topic(len(presets))+"\n")
	r.nextSecond()
	r.output("enqueue", batch+".jsonl", "--batch", batch, "--kb", "docs")
}

// nextSecond waits for the next second, because batches are in the order of the second in which they began.
func (r *record) nextSecond() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}

// night fires the schedule of a batch, and works on its batch and others until they have ended and have a digest.
func (r *record) night(schedule string, batches ...string) {
	r.nextSecond()
	var fired struct{ Batch string }
	if err := json.Unmarshal([]byte(r.output("schedule", "fire", "nightly-"+schedule, "--json")), &fired); err != nil {
		r.t.Fatal(err)
	}
	batches = append(batches, fired.Batch)
	env := r.env
	if schedule == "plain" {
		r.env = append(slices.Clone(env), "LLM_MODEL=")
	}
	w := r.worker(1)
	for _, batch := range batches {
		r.output("watch", batch)
		until(r.t, "the digest of batch "+batch, func() bool { return r.command("digest", batch, "--path").Run() == nil })
		until(r.t, "the bundles of batch "+batch, func() bool {
			return strings.Contains(r.output("status", batch, "--json"), `"unpublished": 0`)
		})
	}
	r.stop(w)
	r.env = env
	r.nameRuns()
}

// changeDocuments changes one figure in each document.
func (r *record) changeDocuments() {
	for _, subject := range benchtest.Subjects {
		name := filepath.Join("docs", subject+".md")
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(name, strings.Replace(string(text), "every 10 days", "every 12 days", 1))
	}
	r.output("kb", "add", "--name", "docs", "docs")
}

// recordCommandList records the names of all commands and of their flags.
func (r *record) recordCommandList() {
	var b strings.Builder
	var visit func(path ...string)
	visit = func(path ...string) {
		part := ""
		var commands [][]string
		for line := range strings.Lines(r.output(append(slices.Clone(path), "--help")...)) {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0:
			case !strings.HasPrefix(line, " "):
				part = strings.TrimSpace(line)
			case part == "Usage:":
				fmt.Fprintln(&b, strings.TrimSpace(line))
			case part == "Available Commands:" && strings.HasPrefix(line, "  ") && line[2] != ' ':
				commands = append(commands, append(slices.Clone(path), fields[0]))
			case part == "Flags:" || part == "Global Flags:" && len(path) == 0:
				flag, _, _ := strings.Cut(strings.TrimSpace(line), "   ")
				fmt.Fprintln(&b, "    "+flag)
			}
		}
		for _, c := range commands {
			if c[0] != "completion" { // of the library
				visit(c...)
			}
		}
	}
	visit()
	r.golden("commands.txt", b.String())
}

// recordCommands records what each command prints as JSON.
func (r *record) recordCommands() {
	model, plain, second := r.run("model/quick"), r.run("plain/quick"), r.run("model/night-2")
	for _, c := range []struct {
		name  string
		calls []string
	}{
		{"list", []string{"list", "list --batch plain", "list --state partial", "list --tag first --sort topic --limit 2"}},
		{"status", []string{"status " + model, "status " + second, "status model", "status nothing"}},
		{"watch", []string{"watch " + plain, "watch model --return-intermediate-results=false"}},
		{"report", []string{"report " + model, "report " + model + " --path", "report model", "report " + plain + " --format csl"}},
		{"digest", []string{"digest model", "digest plain", "digest model --path"}},
		{"schedule", []string{"schedule list", "schedule show nightly-model", "schedule pause nightly-plain",
			"schedule resume nightly-plain"}},
		{"kb", []string{"kb list", "kb show docs", "kb search docs quays", "kb search docs quays --mode naive --limit 1",
			"kb add --name docs docs"}},
		{"search", []string{"search quays --limit 3", "search cranes --batch plain"}},
		{"config", []string{"config"}},
		{"doctor", []string{"doctor"}},
		{"health", []string{"health worker", "health scheduler"}},
		{"styles", []string{"styles", "styles notes"}},
		{"prompts", []string{"prompts", "prompts en/decide.system.tmpl"}},
		{"verify", []string{"verify " + model, "verify " + plain, "verify --report foreign.md --sources foreign.jsonl"}},
		{"replay", []string{"replay " + plain + " --extractive", "replay " + model}},
		{"enqueue", []string{"enqueue model.jsonl --kb docs --dry-run", "enqueue plain.jsonl --batch plain --kb docs"}},
		{"purge", []string{"purge --dry-run"}},
		{"ask", []string{"ask " + model + " How?"}},
		{"run", []string{"run What? --kb docs --preset quick --out elsewhere"}},
	} {
		r.commands(c.name, c.calls...)
	}
}

// recordControl records what changes the state of runs that are queued.
func (r *record) recordControl() {
	r.output("enqueue", "model.jsonl", "--batch", "held", "--kb", "docs")
	r.nameRuns()
	one := r.run("held/quick")
	r.commands("control", "status "+one, "pause "+one, "pause held", "list --batch held", "resume held", "cancel "+one,
		"cancel "+one, "retry "+one, "retry held", "answer "+one+" yes", "cancel held --report", "status held")
}

// recordServer records the API and the table of a batch.
func (r *record) recordServer() {
	s := r.serve()
	spec := r.get(s.url + "v1/openapi.json")
	r.golden("api/openapi.json", indent(spec))
	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(spec), &api); err != nil {
		r.t.Fatal(err)
	}
	fill := strings.NewReplacer("{run_id}", r.run("model/night-2"), "{batch}", "model")
	for path, methods := range api.Paths {
		path = strings.TrimPrefix(path, "/v1/")
		if methods["get"] == nil || path == "openapi.json" {
			continue
		}
		name := "nightly-model"
		if strings.HasPrefix(path, "knowledge/") {
			name = "docs"
		}
		call := strings.ReplaceAll(fill.Replace(path), "{name}", name)
		if path == "search" {
			call += "?q=quays&limit=2"
		}
		file := strings.NewReplacer("/", "-", "{run_id}", "run", "{", "", "}", "").Replace(path)
		r.golden("api/"+file+".txt", "GET "+path+"\n"+indent(r.get(s.url+"v1/"+call)))
	}
	header, _, _ := strings.Cut(r.get(s.url+"csv/model"), "\n")
	r.golden("batch.csv", header+"\n")
}

// get returns what an address answers.
func (r *record) get(address string) string {
	r.t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Errorf("%s: %s, %v", address, answer.Status, err)
	}
	return string(body)
}

// recordMCP records the tools of the MCP server.
func (r *record) recordMCP() {
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(r.t.Context(), &mcp.CommandTransport{Command: r.command("mcp")}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := json.Marshal(tools.Tools)
	if err != nil {
		r.t.Fatal(err)
	}
	r.golden("mcp.json", indent(string(text)))
}

// recordBundles records the files of each run, and what is in those that are JSON.
func (r *record) recordBundles() {
	data := filepath.Join(r.dir, "nightdesk-data")
	for _, name := range r.names {
		id := r.run(name)
		var files []string
		for _, pattern := range []string{"reports/" + id + "*", "cache/" + id + "/*"} {
			found, err := filepath.Glob(filepath.Join(data, pattern))
			if err != nil {
				r.t.Fatal(err)
			}
			files = append(files, found...)
		}
		var b strings.Builder
		for _, file := range files {
			b.WriteString("== " + strings.TrimPrefix(file, data+"/") + "\n")
			if filepath.Base(file) != "config.json" { // the record of the command config has the settings
				b.WriteString(r.inside(file))
			}
		}
		r.golden("bundles/"+strings.ReplaceAll(name, "/", "-")+".txt", b.String())
	}
}

// inside returns a report as it is, and the shape of a JSON file.
func (r *record) inside(file string) string {
	text, err := os.ReadFile(file)
	switch ext := filepath.Ext(file); {
	case ext == ".md":
	case ext == ".json" || ext == ".jsonl":
		return r.shape(text)
	default:
		return ""
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// commands records the output of some calls of a command.
func (r *record) commands(name string, calls ...string) {
	var b strings.Builder
	for _, call := range calls {
		fmt.Fprintf(&b, "$ nightdesk %s --json\n", call)
		cmd := r.command(append(strings.Fields(call), "--json")...)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		err := cmd.Run()
		b.WriteString(indent(out.String()))
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			fmt.Fprintf(&b, "exit code %d\n%s", exit.ExitCode(), said.String())
		} else if err != nil {
			r.t.Fatal(err)
		}
	}
	r.golden("json/"+name+".txt", b.String())
}

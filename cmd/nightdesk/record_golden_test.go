package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "rewrite the golden files of TestRecord")

// record compares what a desk prints and stores with golden files.
type record struct {
	*fleet
	ids     map[string]string // by name, such as model/quick
	names   []string          // in the order of the runs
	written map[string]bool   // golden files
}

const recordDir = "testdata/record"

// golden compares a text with a golden file, or rewrites the file.
func (r *record) golden(name, text string) {
	r.t.Helper()
	text = r.normal(text)
	path := filepath.Join(recordDir, filepath.FromSlash(name))
	r.written[path] = true
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Error(err)
	}
	if string(want) != text {
		r.t.Errorf("users get something else; if that is wanted, run with -update:\n%s",
			diff.Diff(path, want, "now", []byte(text)))
	}
}

// finish checks that there is no golden file that nothing was compared with.
func (r *record) finish() {
	err := filepath.WalkDir(recordDir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || r.written[path] {
			return err
		}
		if *update {
			return os.Remove(path)
		}
		r.t.Errorf("%s is no longer compared with anything; run with -update to remove it", path)
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
}

// nameRuns gives each run a name that is the same in every execution.
func (r *record) nameRuns() {
	r.ids, r.names = map[string]string{}, nil
	for line := range strings.Lines(r.output("list", "--json")) {
		var run struct {
			ID    string `json:"run_id"`
			Batch string
			Ref   string `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			r.t.Fatal(err)
		}
		if strings.HasPrefix(run.Batch, "ask_") || strings.HasPrefix(run.Batch, "run_") {
			continue
		}
		name := run.Batch + "/" + run.Ref[strings.LastIndex(run.Ref, "-")+1:]
		if schedule, ok := strings.CutPrefix(run.Batch, "nightly-"); ok {
			schedule, _, _ = strings.Cut(schedule, "-")
			name = schedule + "/night-1"
			if r.ids[name] != "" {
				name = schedule + "/night-2"
			}
		}
		r.ids[name] = run.ID
		r.names = append(r.names, name)
	}
}

// run returns the id of a run.
func (r *record) run(name string) string {
	r.t.Helper()
	if r.ids[name] == "" {
		r.t.Fatalf("there is no run %s among %v", name, r.names)
	}
	return r.ids[name]
}

// Values that differ from one execution to the next.
var different = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`research_\d{8}_\d{6}_[a-z0-9]{10}`), "<run>"},
	{regexp.MustCompile(`_\d{8}_\d{6}_[a-z0-9]{6}\b`), "_<stamp>"},
	{regexp.MustCompile(`\d{8}T\d{6}Z`), "<stamp>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	{regexp.MustCompile(`([A-Z][a-z]{2} )?20\d\d-\d\d-\d\d( \d\d:\d\d(:\d\d)?( [A-Z]{3,4})?)?`), "<date>"},
	{regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1?\]):\d+`), "<host>"},
	{regexp.MustCompile(`"host": "[^"]*"|\bof host \S+`), "<host>"},
	{regexp.MustCompile(`(\b|src_|topics_)([0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8})\b`), "$1<hash>"},
	{regexp.MustCompile(`\((devel|v[^)]*)\) go1[^ ]* [a-z]+/[a-z0-9]+`), "<version>"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(kB|KB|MB|GB|TB|KiB|MiB|GiB)\b`), "<size>"},
	{regexp.MustCompile(`(answered in|iterations of|of) \d+(\.\d+)?(ms|s| tries)`), "$1 <number>$3"},
	{regexp.MustCompile(`\d+ reports? not stored yet`), "<number> reports not stored yet"}, // as of the last sweep
	{regexp.MustCompile(`("[a-z_]*(_ms|used_time|tokens|cost_usd|seconds|bytes|size)": ?)[\d.e+-]+`), "$1<number>"},
}

// normal replaces what differs from one execution to the next.
func (r *record) normal(text string) string {
	for _, name := range r.names {
		id := r.ids[name]
		text = strings.ReplaceAll(text, id, "<"+name+">")
		text = strings.ReplaceAll(text, id[len(id)-10:], "<"+name+" short>")
	}
	text = strings.ReplaceAll(text, r.socket, "<socket>")
	text = strings.ReplaceAll(text, r.dir, "<dir>")
	for _, d := range different {
		text = d.pattern.ReplaceAllString(text, d.instead)
	}
	return text
}

// indent indents JSON documents, of which a text may have one per line. Another text stays as it is.
func indent(text string) string {
	var out strings.Builder
	in := json.NewDecoder(strings.NewReader(text))
	for in.More() {
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return text
		}
		var b bytes.Buffer
		if err := json.Indent(&b, value, "", "  "); err != nil {
			return text
		}
		out.WriteString(b.String() + "\n")
	}
	return out.String()
}

// shape lists the paths of JSON documents with the types of their values, and the value where it is always the same.
// All elements of an array count as one.
func (r *record) shape(text []byte) string {
	values := map[string][]string{} // distinct, by path and type
	var visit func(path string, v any)
	visit = func(path string, v any) {
		key, value := path+": ", ""
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				visit(path+"."+numbered.ReplaceAllString(name, "N"), field)
			}
			return
		case []any:
			for _, element := range v {
				visit(path+"[]", element)
			}
			if len(v) > 0 {
				return
			}
			key += "array"
		case string:
			key, value = key+"string", fmt.Sprintf("%q", v)
		case float64:
			key, value = key+"number", fmt.Sprint(v)
		default:
			key, value = key+fmt.Sprintf("%T", v), fmt.Sprint(v)
		}
		if value = r.normal(value); !slices.Contains(values[key], value) {
			values[key] = append(values[key], value)
		}
	}
	in := json.NewDecoder(bytes.NewReader(text))
	for in.More() {
		var document any
		if err := in.Decode(&document); err != nil {
			r.t.Fatal(err)
		}
		visit("", document)
	}
	var lines []string
	for key, all := range values {
		if len(all) == 1 && len(all[0]) < 100 && !timed.MatchString(key) {
			key += " " + all[0]
		}
		lines = append(lines, r.normal(strings.TrimSpace(key)))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// numbered matches the numbers in the ids of topic blocks and citations. These ids count as one.
var numbered = regexp.MustCompile(`\d+`)

// timed matches the paths of numbers that depend on the machine or on the day.
var timed = regexp.MustCompile(`(_ms|used_time|tokens|cost_usd|seconds|bytes|size): number$`)

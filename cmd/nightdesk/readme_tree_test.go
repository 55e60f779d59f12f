package main_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/cmd/nightdesk/manual"
)

// sources returns the text of all Go files below the top of the house, by path.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	house, files := os.DirFS("../.."), map[string][]byte{}
	err := fs.WalkDir(house, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		files[name], err = fs.ReadFile(house, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// topic returns the text of a topic of the manual.
func topic(t *testing.T, name string) string {
	t.Helper()
	found, ok := manual.Find(name)
	if !ok {
		t.Fatalf("the manual has no topic %s", name)
	}
	return found.Text
}

// section returns what is below a heading.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("there is no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// block returns the first fenced block below a heading.
func block(t *testing.T, text, heading string) string {
	t.Helper()
	section := section(t, text, heading)
	_, fenced, open := strings.Cut(section, "\n```\n")
	fenced, _, closed := strings.Cut(fenced, "\n```\n")
	if !open || !closed {
		t.Fatalf("there is no block below %q", heading)
	}
	return fenced
}

// The README has a line on each package of at most two path elements, by path. Deeper ones have a package comment.
// Those for tests alone, which end in test, and .ci need none.
func TestReadmeListsEveryPackage(t *testing.T) {
	t.Parallel()
	var listed []string
	for line := range strings.Lines(block(t, readReadme(t), "Project")) {
		if dir, what, _ := strings.Cut(line, "/ "); strings.TrimSpace(what) != "" && !strings.HasPrefix(line, " ") {
			listed = append(listed, dir)
		}
	}
	packageComment := regexp.MustCompile(`(?m)^// (Package|Command) \w+ `)
	commented := map[string]bool{}
	for name, source := range sources(t) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(dir, "test") || strings.HasPrefix(dir, ".") {
			continue
		}
		commented[dir] = commented[dir] || packageComment.Match(source)
	}
	var want []string
	for _, dir := range slices.Sorted(maps.Keys(commented)) {
		if strings.Count(dir, "/") < 2 {
			want = append(want, dir)
		} else if !commented[dir] {
			t.Errorf("%s has no package comment", dir)
		}
	}
	if !slices.Equal(listed, want) {
		t.Errorf("README.md lists\n%s\nthere are\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// TestReadmeRacesWhatIsConcurrent: the test command with the race detector has every package that starts goroutines.
func TestReadmeRacesWhatIsConcurrent(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`(?m)^go test -race .*$`).FindString(readReadme(t))
	patterns := regexp.MustCompile(` \./(\S+)`).FindAllStringSubmatch(command, -1)
	raced := func(dir string) bool {
		return slices.ContainsFunc(patterns, func(m []string) bool {
			root, all := strings.CutSuffix(m[1], "/...")
			return dir == root || all && strings.HasPrefix(dir, root+"/")
		})
	}
	starts := regexp.MustCompile(`(?m)^\s*go (func\b|[a-z][\w.]*\()|errgroup\.|sync\.WaitGroup`)
	concurrent := map[string]bool{}
	for name, source := range sources(t) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && starts.Match(source) {
			concurrent[filepath.ToSlash(filepath.Dir(name))] = true
		}
	}
	if len(concurrent) < 10 || len(patterns) < 5 {
		t.Fatalf("%d packages start goroutines, %q", len(concurrent), command)
	}
	for dir := range concurrent {
		if !raced(dir) {
			t.Errorf("%s starts goroutines, but the test command with the race detector does not have it", dir)
		}
	}
}

// The tests, benchmarks, their flags and the files that README and manual name exist.
func TestReadmeNames(t *testing.T) {
	t.Parallel()
	text, files := readReadme(t), sources(t)
	for _, topic := range manual.Topics() {
		text += "\n" + topic.Text
	}
	// declared reports whether a test file below dir matches.
	declared := func(dir, pattern string) bool {
		is := regexp.MustCompile(pattern)
		for name, source := range files {
			if strings.HasSuffix(name, "_test.go") && (strings.HasPrefix(name, dir+"/") || dir == ".") && is.Match(source) {
				return true
			}
		}
		return false
	}
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		if !declared(".", `func `+m[1]+`\(`) {
			t.Errorf("there is no %s", m[1])
		}
	}
	lines := regexp.MustCompile("(?m)(?:^|`)(go test [^`\n]+)").FindAllStringSubmatch(text, -1)
	if len(lines) < 10 {
		t.Errorf("only %d lines of tests", len(lines))
	}
	for _, m := range lines {
		dir := strings.TrimSuffix(regexp.MustCompile(`\./\S+`).FindString(m[1]), "/...")
		dir = strings.TrimPrefix(strings.TrimPrefix(dir, "."), "/")
		if _, err := os.Stat(filepath.Join("../..", dir)); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
		for _, flag := range regexp.MustCompile(` -(run|bench) '?([\w|]+)'?`).FindAllStringSubmatch(m[1], -1) {
			for name := range strings.SplitSeq(flag[2], "|") {
				if !declared(dir, `func (Test|Benchmark)?\w*`+name) {
					t.Errorf("%s: %s has no %s", m[1], dir, name)
				}
			}
		}
		for _, flag := range regexp.MustCompile(` -([a-z]+\.[a-z]+)`).FindAllStringSubmatch(m[1], -1) {
			if !declared(dir, `flag\.\w+\([^"\n]*"`+regexp.QuoteMeta(flag[1])+`"`) {
				t.Errorf("%s: %s has no flag -%s", m[1], dir, flag[1])
			}
		}
	}
	for _, m := range regexp.MustCompile("`((?:cmd|config|jobs|pipeline|prompts|storage|topicqueue|\\.ci)/[^` <]*)").FindAllStringSubmatch(text, -1) {
		if found, err := filepath.Glob(filepath.Join("../..", m[1])); err != nil || len(found) == 0 {
			t.Errorf("there is no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("there is no %s", m[1])
		}
	}
}

// The README is short, links every topic of the manual, and its links within the page lead to headings.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	text := readReadme(t)
	if lines := strings.Count(text, "\n"); lines > 260 {
		t.Errorf("README.md has %d lines; at most 260 fit: move the rest to the manual", lines)
	}
	for _, topic := range manual.Topics() {
		file, command := "](cmd/nightdesk/manual/"+topic.Name+".md)", "`nightdesk help "+topic.Name+"`"
		if !strings.Contains(text, file) && !strings.Contains(text, command) {
			t.Errorf("README.md does not link the topic %s", topic.Name)
		}
	}
	var anchors []string
	headings := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?m)^##+ (.+)$`).FindAllStringSubmatch(headings, -1) {
		anchor := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(anchors, m[1]) {
			t.Errorf("no heading is #%s", m[1])
		}
	}
}

// checkLeft checks that a run has left behind what the manual says, and nothing else: left DIR RUN. Figures are of runs
// with programs alone.
func checkLeft(ts *testscript.TestScript, _ bool, args []string) {
	dir, run := ts.MkAbs(args[0]), args[1]
	t, _ := ts.Value("t").(*testing.T)
	said := regexp.MustCompile(`(?m)^\w+/\S+(?: \.\w+)*`).FindAllString(block(t, topic(t, "reports"), "Files of a run"), -1)
	named := map[string]bool{}
	for _, names := range said {
		first, others, _ := strings.Cut(names, " ")
		for _, ending := range append(strings.Fields(others), path.Ext(first)) {
			pattern := strings.TrimSuffix(first, path.Ext(first)) + ending
			pattern = strings.ReplaceAll(pattern, "<run>", run)
			pattern = regexp.MustCompile(`<\w+>|/$`).ReplaceAllString(pattern, "$0*")
			pattern = regexp.MustCompile(`<\w+>`).ReplaceAllString(pattern, "")
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			ts.Check(err)
			if len(found) == 0 && !strings.HasSuffix(first, "/figures/") {
				ts.Fatalf("the manual says that a run leaves %s behind: there is none", pattern)
			}
			for _, name := range found {
				named[name] = true
			}
		}
	}
	for _, pattern := range []string{"reports/" + run + "*", "cache/" + run + "/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		ts.Check(err)
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && !info.IsDir() && !named[name] {
				ts.Fatalf("a run leaves %s behind, which the manual does not name", name)
			}
		}
	}
}

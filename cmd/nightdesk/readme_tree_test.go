package main_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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

// block returns the first fenced block below a heading.
func block(t *testing.T, readme, heading string) string {
	t.Helper()
	_, section, ok := strings.Cut(readme, "\n### "+heading+"\n")
	_, fenced, open := strings.Cut(section, "\n```\n")
	fenced, _, closed := strings.Cut(fenced, "\n```\n")
	if !ok || !open || !closed {
		t.Fatalf("README.md has no block below %q", heading)
	}
	return fenced
}

// The README has a line on each package, by path. Those for tests alone, which end in test, need none.
func TestReadmeListsEveryPackage(t *testing.T) {
	t.Parallel()
	var listed, there []string
	for line := range strings.Lines(block(t, readReadme(t), "How it is built")) {
		if dir, what, _ := strings.Cut(line, "/ "); strings.TrimSpace(what) != "" && !strings.HasPrefix(line, " ") {
			listed = append(listed, dir)
		}
	}
	for name := range sources(t) {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(dir, "test") && !slices.Contains(there, dir) {
			there = append(there, dir)
		}
	}
	slices.Sort(there)
	if !slices.Equal(listed, there) {
		t.Errorf("README.md lists\n%s\nthere are\n%s", strings.Join(listed, "\n"), strings.Join(there, "\n"))
	}
}

// The tests, benchmarks, their flags and the files that the README names are there.
func TestReadmeNames(t *testing.T) {
	t.Parallel()
	text, files := readReadme(t), sources(t)
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

// The table of contents names every chapter and section, in their order, and every link within the README leads to a heading.
func TestReadmeContents(t *testing.T) {
	t.Parallel()
	text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(readReadme(t), "")
	head, _, ok := strings.Cut(text, "\n## ")
	if !ok || len(head) > 3000 {
		t.Fatalf("the table of contents stands in the first %d bytes", len(head))
	}
	anchor := func(heading string) string {
		return strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
	}
	var there, listed []string
	for _, m := range regexp.MustCompile(`(?m)^###? (.+)$`).FindAllStringSubmatch(text, -1) {
		there = append(there, anchor(m[1]))
	}
	links := regexp.MustCompile(`\]\(#([^)]+)\)`)
	for _, m := range links.FindAllStringSubmatch(head, -1) {
		listed = append(listed, m[1])
	}
	if !slices.Equal(listed, there) {
		t.Errorf("listed\n%s\nthere are\n%s", strings.Join(listed, "\n"), strings.Join(there, "\n"))
	}
	for _, m := range links.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(there, m[1]) {
			t.Errorf("no heading is #%s", m[1])
		}
	}
}

// checkLeft checks that a run has left behind what the README says, and nothing else: left DIR RUN. Figures are of runs
// with programs alone.
func checkLeft(ts *testscript.TestScript, _ bool, args []string) {
	dir, run := ts.MkAbs(args[0]), args[1]
	t, _ := ts.Value("t").(*testing.T)
	said := regexp.MustCompile(`(?m)^\w+/\S+(?: \.\w+)*`).FindAllString(block(t, readReadme(t), "What a run leaves behind"), -1)
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
				ts.Fatalf("README.md says that a run leaves %s behind: there is none", pattern)
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
				ts.Fatalf("a run leaves %s behind, which README.md does not name", name)
			}
		}
	}
}

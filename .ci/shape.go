// Command shape checks the product code of this repository: everything that is compiled into nightdesk. Test files and
// packages that only tests import have no rules here.
//
//   - Lines have at most 120 columns (a tab is one), functions at most 80 lines, conditions at most four terms.
//   - No part of the house has more lines of code than .ci/budget.txt allows. Lines of code are lines with a token on
//     them: no comments, no blank lines.
//
// Numbers of the budget only fall: -write lowers them to what there is. To raise one, edit the file in a commit that
// says what the lines are for. Run it at the top of the repository: go run .ci/shape.go [-write]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	budgetFile = ".ci/budget.txt"
	mainModule = "nightdesk/cmd/..." // what the product is
	mostColumn = 120
	mostLines  = 80
	mostTerms  = 4
)

func main() {
	write := flag.Bool("write", false, "lower the numbers of the budget to what there is")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	dirs, err := productDirs()
	if err != nil {
		return err
	}
	lines, violations := map[string]int{}, 0
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			found, err := inspect(name, text)
			if err != nil {
				return err
			}
			for _, violation := range found {
				fmt.Println(violation)
			}
			violations += len(found)
			lines[part(dir)] += codeLines(text)
		}
	}
	budget, err := readBudget()
	if err != nil {
		return err
	}
	over := compare(lines, budget)
	for _, line := range over {
		fmt.Println(line)
	}
	total := 0
	for _, n := range lines {
		total += n
	}
	fmt.Printf("%d lines of product code\n", total)
	switch {
	case violations > 0:
		return fmt.Errorf("%d violations: break lines, split functions, name parts of conditions", violations)
	case len(over) > 0:
		return fmt.Errorf("%s: remove code, or raise the number in a commit that says what for", budgetFile)
	case write:
		return os.WriteFile(budgetFile, format(lines), 0o644)
	}
	return nil
}

// productDirs returns the folders of all packages that are compiled into the programs below cmd, on any system: a file
// for another system counts as well.
func productDirs() (dirs []string, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, mainModule).Output()
	if err != nil {
		return nil, fmt.Errorf("list the programs: %w", err)
	}
	out, err = exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, strings.Fields(string(out))...)...).
		Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of the programs: %w", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct{ Main bool }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Main {
			dir, err := filepath.Rel(root, p.Dir)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, filepath.ToSlash(dir))
		}
	}
}

// part returns the part of the house that a folder belongs to: a top-level folder, or a folder of pipeline.
func part(dir string) string {
	parts := strings.Split(dir, "/")
	if parts[0] == "pipeline" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// codeLines counts the lines with a token on them. A raw string counts with all its lines.
func codeLines(text []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return len(lines)
		}
		if kind == token.SEMICOLON && literal == "\n" { // inserted by the scanner
			continue
		}
		first := file.Line(pos)
		for i := range strings.Count(literal, "\n") + 1 {
			lines[first+i] = true
		}
	}
}

// inspect returns the violations in a file.
func inspect(name string, text []byte) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(line int, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s:%d: ", name, line)+fmt.Sprintf(format, args...))
	}
	line := 0
	for text := range bytes.Lines(text) {
		line++
		if n := utf8.RuneCount(bytes.TrimRight(text, "\r\n")); n > mostColumn {
			add(line, "%d columns, at most %d", n, mostColumn)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok {
			first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
			if lines := last - first + 1; lines > mostLines {
				add(first, "%s has %d lines, at most %d", f.Name.Name, lines, mostLines)
			}
		}
		if e, ok := n.(ast.Expr); ok {
			if n := terms(e); n > mostTerms {
				add(files.Position(e.Pos()).Line, "a condition of %d terms, at most %d", n, mostTerms)
				return false // do not count its parts again
			}
		}
		return true
	})
	return found, nil
}

// terms returns how many operands && and || join in an expression.
func terms(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return terms(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return terms(e.X)
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return terms(e.X) + terms(e.Y)
		}
	}
	return 1
}

func readBudget() (map[string]int, error) {
	text, err := os.ReadFile(budgetFile)
	if err != nil {
		return nil, err
	}
	budget := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var n int
		var name string
		if _, err := fmt.Sscan(line, &n, &name); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", budgetFile, line, err)
		}
		budget[name] = n
	}
	return budget, nil
}

// compare returns a line for each part that has more lines than its budget, or none.
func compare(lines, budget map[string]int) (over []string) {
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		if most, known := budget[name]; !known || lines[name] > most {
			over = append(over, fmt.Sprintf("%s: %d lines of code, at most %d", name, lines[name], most))
		}
	}
	return over
}

func format(lines map[string]int) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "# Lines of code of each part, at most: see .ci/shape.go. These numbers only fall.")
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(&b, lines[name], name)
	}
	return b.Bytes()
}

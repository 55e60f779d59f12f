// Command shape checks the shape of the code: lines of at most 120 columns (a tab is one), functions of at most 80
// lines and conditions of at most four terms. .ci/shape.txt lists the existing violations of each file; the numbers may
// only fall. Run it at the top of the repository: go run .ci/shape.go. With -write it records lower numbers, or creates
// the list.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	list       = ".ci/shape.txt"
	mostColumn = 120
	mostLines  = 80
	mostTerms  = 4
)

// violations counts the violations in a file: lines, functions, conditions.
type violations [3]int

var kinds = [3]string{"lines too long", "functions too long", "conditions of too many terms"}

func main() {
	write := flag.Bool("write", false, "record lower numbers in the list")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	names, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go").Output()
	if err != nil {
		return fmt.Errorf("list the files of the repository: %w", err)
	}
	found, places := map[string]violations{}, map[string][]string{}
	for _, name := range strings.Fields(string(names)) {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			return err
		}
		count, at, err := inspect(name, text)
		if err != nil {
			return err
		}
		if count != (violations{}) {
			found[name], places[name] = count, at
		}
	}
	known, err := read()
	if write && os.IsNotExist(err) {
		return os.WriteFile(list, format(found), 0o644)
	}
	if err != nil {
		return err
	}
	worse, better := compare(found, known, places)
	switch {
	case worse > 0:
		return fmt.Errorf("%d files have new violations: break lines, split functions, name parts of conditions", worse)
	case better && write:
		return os.WriteFile(list, format(found), 0o644)
	case better:
		return fmt.Errorf("%s allows more violations than there are: run go run .ci/shape.go -write", list)
	}
	return nil
}

// inspect returns the violations in a file and their positions.
func inspect(name string, text []byte) (count violations, at []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return count, nil, err
	}
	add := func(kind, line int, format string, args ...any) {
		count[kind]++
		at = append(at, fmt.Sprintf("%s:%d: ", name, line)+fmt.Sprintf(format, args...))
	}
	line := 0
	for text := range bytes.Lines(text) {
		line++
		if n := utf8.RuneCount(bytes.TrimRight(text, "\r\n")); n > mostColumn {
			add(0, line, "%d columns, at most %d", n, mostColumn)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok {
			first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
			if lines := last - first + 1; lines > mostLines {
				add(1, first, "%s has %d lines, at most %d", f.Name.Name, lines, mostLines)
			}
		}
		if e, ok := n.(ast.Expr); ok {
			if n := terms(e); n > mostTerms {
				add(2, files.Position(e.Pos()).Line, "a condition of %d terms, at most %d", n, mostTerms)
				return false // do not count its parts again
			}
		}
		return true
	})
	return count, at, nil
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

func format(found map[string]violations) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: see .ci/shape.go. These numbers may only fall.\n", strings.Join(kinds[:], ", "))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		n := found[name]
		fmt.Fprintln(&b, n[0], n[1], n[2], name)
	}
	return b.Bytes()
}

func read() (map[string]violations, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	known := map[string]violations{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var n violations
		var name string
		if _, err := fmt.Sscan(line, &n[0], &n[1], &n[2], &name); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", list, line, err)
		}
		known[name] = n
	}
	return known, nil
}

// compare prints the files with more violations than the list allows. worse is their number; better reports whether the
// list allows more violations than some file has.
func compare(found, known map[string]violations, places map[string][]string) (worse int, better bool) {
	names := maps.Clone(known)
	maps.Copy(names, found)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		grown := false
		for kind, was := range known[name] {
			is := found[name][kind]
			better = better || is < was
			if is > was {
				grown = true
				fmt.Printf("%s: %d %s, %d are allowed\n", name, is, kinds[kind], was)
			}
		}
		if grown {
			worse++
			fmt.Println("\t" + strings.Join(places[name], "\n\t"))
		}
	}
	return worse, better
}

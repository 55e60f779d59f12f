// Command shape holds the shape of the code: no line of more than 120 columns (a tab is one), no function of more than
// 80 lines and no condition of more than four terms. .ci/shape.txt lists, file by file, what is older than this rule;
// its numbers may only fall. Run it at the top of the repository: go run .ci/shape.go; with -write it writes numbers
// that have fallen into the list, and a whole list where there is none.
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

// troubles counts what is too long in a file: lines, functions, conditions.
type troubles [3]int

var kinds = [3]string{"lines too long", "functions too long", "conditions of too many terms"}

func main() {
	write := flag.Bool("write", false, "write numbers that have fallen into the list")
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
	found, places := map[string]troubles{}, map[string][]string{}
	for _, name := range strings.Fields(string(names)) {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			return err
		}
		count, at, err := look(name, text)
		if err != nil {
			return err
		}
		if count != (troubles{}) {
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
		return fmt.Errorf("%d files lost their shape: break lines, cut functions, give the steps of conditions names", worse)
	case better && write:
		return os.WriteFile(list, format(found), 0o644)
	case better:
		return fmt.Errorf("the code is better than %s says: go run .ci/shape.go -write", list)
	}
	return nil
}

// look returns what is too long in a file, and where.
func look(name string, text []byte) (count troubles, at []string, err error) {
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
				return false // its parts are not counted again
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

func format(found map[string]troubles) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: .ci/shape.go says more. These numbers may only fall.\n", strings.Join(kinds[:], ", "))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		n := found[name]
		fmt.Fprintln(&b, n[0], n[1], n[2], name)
	}
	return b.Bytes()
}

func read() (map[string]troubles, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	known := map[string]troubles{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var n troubles
		var name string
		if _, err := fmt.Sscan(line, &n[0], &n[1], &n[2], &name); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", list, line, err)
		}
		known[name] = n
	}
	return known, nil
}

// compare prints what is too long in files that have more of it than the list allows. worse: how many these are;
// better: the list allows more than there is somewhere.
func compare(found, known map[string]troubles, places map[string][]string) (worse int, better bool) {
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

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"synthetic/internal/probe/dialect"
)

// TestOnlyDialectKnowsTheAPIs checks that no other package decides by the name of an API: what differs between
// APIs is in a row of the table in internal/probe/dialect. The simulated deployment answers in some of them.
func TestOnlyDialectKnowsTheAPIs(t *testing.T) {
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "internal/probe/dialect/") || strings.Contains(path, "internal/simulate/") {
				return err
			}
			for _, place := range switches(t, path, read(t, path)) {
				t.Errorf("%s decides by the name of an API: add a field to dialect.API", place)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSwitchesAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`func f(a string) bool { return a == "messages" }`:                           1,
		`func f(a string) { switch a { case "azure", "other": } }`:                   1,
		`func f(a dialect.Name) bool { return dialect.Default != a }`:                1,
		`var m = map[string]int{"azure": 1, "responses": 2}`:                         1,
		`var m = map[string]int{"messages": 1, "model": 2}`:                          0,
		`func f(a string) bool { return a == "other" || g("chat", dialect.Default)}`: 0,
	} {
		if got := switches(t, "x.go", "package x\n"+text); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// switches returns the places of a file that compare with the name of an API, or look something up by such names.
func switches(t *testing.T, path, text string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		found := false
		switch n := n.(type) {
		case *ast.CaseClause:
			found = slices.ContainsFunc(n.List, isAPI)
		case *ast.BinaryExpr:
			found = (n.Op == token.EQL || n.Op == token.NEQ) && (isAPI(n.X) || isAPI(n.Y))
		case *ast.CompositeLit:
			keys := 0
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok && isAPI(pair.Key) {
					keys++
				}
			}
			found = keys > 1
		}
		if found {
			places = append(places, files.Position(n.Pos()).String())
		}
		return true
	})
	return places
}

// isAPI reports whether an expression is the name of an API.
func isAPI(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		name, err := strconv.Unquote(e.Value)
		return err == nil && slices.Contains(dialect.Names(), dialect.Name(name))
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		return ok && pkg.Name == "dialect" && e.Sel.Name == "Default"
	}
	return false
}

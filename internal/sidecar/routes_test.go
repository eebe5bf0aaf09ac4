package sidecar_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"synthetic/internal/sidecar"
	"synthetic/tools/measured"
)

var update = flag.Bool("update", false, "rewrite the tables of SECURITY.md")

// TestSecurityListsEveryRoute: the tables of SECURITY.md are those of the routes that the handler
// serves.
func TestSecurityListsEveryRoute(t *testing.T) {
	const page, tool = "../../SECURITY.md", "go test ./internal/sidecar -run TestSecurityListsEveryRoute -args -update"
	s, err := sidecar.New(sidecar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	reads, writes := [][]string{{"method", "path", "gives"}}, [][]string{{"method", "path", "who may call", "what changes"}}
	for _, r := range s.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		path = "`" + strings.TrimSuffix(path, "{$}") + "`"
		if r.Changes == "" {
			reads = append(reads, []string{method, path, r.Gives})
		} else {
			writes = append(writes, []string{method, path, r.Callers, r.Changes})
		}
		if r.Changes == "" && method != "GET" {
			t.Errorf("%s changes nothing: make it a GET, or say what it changes", r.Pattern)
		}
	}
	tables := map[string]string{"reads: " + tool: measured.Table("---", reads...), "writes: " + tool: measured.Table("---", writes...)}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(have)
	for name, table := range tables {
		if *update {
			err = measured.Replace(page, name, table)
		} else {
			want, err = measured.Replaced(want, name, table)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want != string(have) {
		t.Errorf("SECURITY.md has other routes than the handler: run %s", tool)
	}
}

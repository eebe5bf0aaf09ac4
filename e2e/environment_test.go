//go:build e2e

package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the tests into docs/background/e2e.md")

// cached returns the path of a file in the cache of e2e/run.
func cached(t *testing.T, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{mustEnv(t, "E2E_CACHE")}, elem...)...)
}

// python returns the interpreter that has the Python servers.
func python(t *testing.T) string { return cached(t, "venv", "bin", "python") }

// binary returns the synthetic binary under test.
func binary(t *testing.T) string { return mustEnv(t, "E2E_SYNTHETIC") }

func mustEnv(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run these tests with e2e/run", name)
	}
	return v
}

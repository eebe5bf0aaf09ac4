package archtest

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// output matches code that creates a log or writes to the standard streams.
var output = regexp.MustCompile(`slog\.New(Text|JSON)Handler|promslog\.New|slog\.(Debug|Info|Warn|Error)\(|\blog\.(Print|Fatal|New)|os\.Std(out|err)\b|fmt\.Print`)

// TestOneLog checks that only main creates a log, which removes secrets, and passes on the standard
// streams.
func TestOneLog(t *testing.T) {
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for line := range strings.Lines(read(t, path)) {
				code, _, _ := strings.Cut(line, "//")
				if found := output.FindString(code); found != "" && !strings.HasSuffix(path, "cmd/synthetic/main.go") {
					t.Errorf("%s: %s: use the logger and the streams that main passes", path, found)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if main := read(t, root+"/cmd/synthetic/main.go"); !strings.Contains(main, "promslog.Config{Writer: redact.Writer(stderr)}") {
		t.Error("the log of main does not remove secrets")
	}
}

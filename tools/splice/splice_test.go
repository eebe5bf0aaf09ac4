package splice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const document = "# Title\n<!-- begin one: written by tool -->\nold\n<!-- end one -->\nprose\n<!-- begin two: written by tool -->\n<!-- end two -->\n"

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(name, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	parts := []Part{{"one", "\nnew\n\n"}, {"two", "table"}}
	for range 2 { // the second time changes nothing
		if err := File(name, "tool", parts); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := "# Title\n<!-- begin one: written by tool -->\n\nnew\n\n<!-- end one -->\nprose\n<!-- begin two: written by tool -->\n\ntable\n\n<!-- end two -->\n"
		if string(got) != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestFileLacksAPart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(name, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Part{{"three", ""}, {"on", ""}} {
		if err := File(name, "tool", []Part{{"one", "new"}, p}); err == nil || !strings.Contains(err.Error(), "begin "+p.Name) {
			t.Errorf("%s: error %v", p.Name, err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != document {
		t.Errorf("a document without a part was written: %s", got)
	}
	if err := File(name+"x", "tool", nil); err == nil {
		t.Error("no error for a document that does not exist")
	}
}

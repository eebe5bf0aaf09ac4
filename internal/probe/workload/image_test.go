package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadImages(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	small, half := write("a.png", 3), write("b.webp", maxImages/2)
	got, err := ReadImages([]string{small, half})
	if err != nil || len(got) != 2 || got[0].URL() != "data:image/png;base64,AAAA" || got[1].Type != "image/webp" {
		t.Errorf("got %d images, %v", len(got), err)
	}
	for says, files := range map[string][]string{
		"more than 8 MiB": {half, small, half},
		"unknown type":    {write("c.bmp", 3)},
		"is empty":        {write("d.gif", 0)},
		"no such file":    {filepath.Join(dir, "e.png")},
	} {
		if _, err := ReadImages(files); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: got %v, want %q", files, err, says)
		}
	}
}

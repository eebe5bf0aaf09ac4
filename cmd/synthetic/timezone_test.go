package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestZoneName(t *testing.T) {
	link := func(target string) string {
		path := filepath.Join(t.TempDir(), "localtime")
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	local := time.FixedZone("Local", 3600)
	for name, test := range map[string]struct {
		local *time.Location
		path  string
		want  string
	}{
		"TZ":                  {time.FixedZone("Asia/Tokyo", 0), "", "Asia/Tokyo"},
		"a link":              {local, link("/usr/share/zoneinfo/Europe/Berlin"), "Europe/Berlin"},
		"a relative link":     {local, link("../usr/share/zoneinfo/UTC"), "UTC"},
		"macOS":               {local, link("/var/db/timezone/zoneinfo/America/New_York"), "America/New_York"},
		"a copied file":       {local, filepath.Join(t.TempDir(), "none"), ""},
		"a link to elsewhere": {local, link("/etc/zone"), ""},
		"a POSIX zone":        {time.FixedZone("CET-1CEST", 3600), "", ""},
	} {
		if got := zoneName(test.local, test.path); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestCheckShowsTheTimeZone checks that check names the time zone of the file.
func TestCheckShowsTheTimeZone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := `
timezone: Europe/Berlin
targets: [{name: a, base_url: "http://a"}, {name: b, base_url: "http://b", timezone: America/Los_Angeles}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code := run(t.Context(), []string{"check", file}, &out, &out); code != exitOK || !strings.Contains(out.String(), ", time zone Europe/Berlin)") {
		t.Errorf("exit code %d: %s", code, &out)
	}
}

package report

import (
	"os"
	"strings"
	"testing"
)

const seeds = "testdata/"

func read(t *testing.T, name string) *Study {
	t.Helper()
	s, err := Read(seeds + "forms/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rows returns the cells of the first table below a heading of a report.
func rows(t *testing.T, text, heading string) [][]string {
	t.Helper()
	_, after, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	var all [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(all) > 0 {
				break
			}
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	if len(all) < 3 {
		t.Fatalf("no table below %q", heading)
	}
	return all[2:] // without the header and its rule
}

func file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(seeds + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func rendered(t *testing.T, s *Study) string {
	t.Helper()
	text, err := documentOf(t, s).markdown()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// eagle is the report with speculative decoding against its baseline.
func eagle(t *testing.T) *Study {
	base, other := read(t, "001"), read(t, "000")
	base.Name, other.Name = "Phase 0", "Phase 3"
	if d := Difference(base, other); d != "" {
		t.Fatalf("they cannot be compared: %s", d)
	}
	return Join([]*Study{base, other})
}

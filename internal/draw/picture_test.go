package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

func chart(values ...float64) Chart {
	l := Line{Name: "p50"}
	for i, v := range values {
		l.Points = append(l.Points, Point{X: float64(50 + 10*i), Y: v, Low: v * 0.9, High: v * 1.1})
	}
	return Chart{
		Title: "TTFT <p50> & p95", X: "Concurrency", Unit: "ms", Lines: []Line{l},
		Marks: []Mark{{Text: "SLO 1000", Y: 1000, X: math.NaN(), Color: -1}, {Text: "knee", X: 60, Y: math.NaN(), Color: 0}},
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	for name, c := range map[string]Chart{
		"linear": chart(200, 300, 400), "logarithmic": chart(236, 258, 6519, 77000),
		"gap": chart(1, math.NaN(), 3, math.Inf(1), 5), "one level": chart(3), "zero": chart(0, 0, 0),
		"negative": chart(-3, 2), "huge": chart(1e9, 2e9),
	} {
		t.Run(name, func(t *testing.T) {
			svg, err := c.SVG()
			if err != nil {
				t.Fatal(err)
			}
			for dec := xml.NewDecoder(strings.NewReader(string(svg))); ; {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("not XML: %v", err)
				}
			}
			// An SLO far above the values would flatten them, and is left out.
			near := name == "linear" || name == "logarithmic" || name == "huge"
			if got := strings.Contains(string(svg), "SLO 1000"); got != near {
				t.Errorf("the SLO is drawn: %v, want %v", got, near)
			}
			for _, want := range []string{"viewBox", "TTFT &lt;p50&gt; &amp; p95", "var(--series0)", "prefers-color-scheme:dark"} {
				if !strings.Contains(string(svg), want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, bad := range []string{"NaN", "Inf", "#000000", "<?xml"} {
				if strings.Contains(string(svg), bad) {
					t.Errorf("the file has %q", bad)
				}
			}
			if dir := os.Getenv("PICTURES"); dir != "" { // to look at them
				if err := os.WriteFile(dir+"/"+name+".svg", svg, 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLongNamesWrap: a key that does not fit in one row takes more.
func TestLongNamesWrap(t *testing.T) {
	c := chart(1, 2)
	for i := range 4 {
		l := c.Lines[0]
		l.Name = strings.Repeat("long name ", 2) + strings.Repeat("x", i)
		c.Lines = append(c.Lines, l)
	}
	rows := 0
	for _, k := range c.keys() {
		if k.x+24+style(ledger, ink()).Width(k.line.Name) > width {
			t.Errorf("%q ends beyond the picture", k.line.Name)
		}
		rows = max(rows, k.row)
	}
	if rows == 0 {
		t.Error("five long names are in one row")
	}
}

func TestNothingToDraw(t *testing.T) {
	if _, err := chart(math.NaN()).SVG(); err == nil || !strings.Contains(err.Error(), "no level has a value") {
		t.Errorf("error %v", err)
	}
}

func TestSameInputSameFile(t *testing.T) {
	a, errA := chart(1, 2, 3).SVG()
	b, errB := chart(1, 2, 3).SVG()
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("two files differ (%v, %v)", errA, errB)
	}
}

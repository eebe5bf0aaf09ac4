package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func testChart(values ...float64) Chart {
	s := Series{Name: "p50"}
	for i, v := range values {
		s.Points = append(s.Points, Point{X: float64(50 + 10*i), Y: v, Low: v * 0.9, High: v * 1.1})
	}
	return Chart{
		Title: "TTFT <p50> & p95", X: Axis{Label: "Concurrency"}, Y: Axis{Unit: "ms"}, Series: []Series{s},
		Marks: []Mark{{Text: "SLO 1000", Y: 1000, X: math.NaN()}, {Text: "knee", X: 60, Y: math.NaN()}},
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	categories := testChart(0, 1)
	categories.Y = Axis{Ticks: []Tick{{Value: 0, Label: "hang"}, {Value: 1, Label: "outage"}}}
	for name, c := range map[string]Chart{
		"linear": testChart(200, 300, 400), "wide": testChart(236, 258, 6519, 77000),
		"gap": testChart(1, math.NaN(), 3, math.Inf(1), 5), "one level": testChart(3), "zero": testChart(0, 0, 0),
		"negative": testChart(-3, 2), "huge": testChart(1e9, 2e9), "unknown": testChart(math.NaN()), "categories": categories, "empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			svg := string(c.SVG())
			wellFormed(t, []byte(svg))
			// The axis ignores an SLO far above the values.
			near := name == "linear" || name == "wide" || name == "huge"
			if got := strings.Contains(svg, ">SLO 1000<"); got != near {
				t.Errorf("the SLO is drawn: %v, want %v", got, near)
			}
			for _, want := range []string{"viewBox", "var(--series0)", "prefers-color-scheme:dark", `role="img"`, "<desc>"} {
				if !strings.Contains(svg, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if name != "empty" && !strings.Contains(svg, "<title>TTFT &lt;p50&gt; &amp; p95</title>") {
				t.Error("the title is missing")
			}
			for _, bad := range []string{"NaN", "Inf", "#000000", "<?xml", "%!"} {
				if strings.Contains(svg, bad) {
					t.Errorf("the file has %q", bad)
				}
			}
			if long := regexp.MustCompile(`\d\.\d\d`).FindString(svg[strings.Index(svg, "<g "):]); long != "" {
				t.Errorf("a place has more than one decimal: %s", long)
			}
			if dir := os.Getenv("PICTURES"); dir != "" { // for a look at the pictures
				if err := os.WriteFile(dir+"/"+name+".svg", []byte(svg), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestGaps checks that a missing value interrupts the line, and that a missing interval
// interrupts the band.
func TestGaps(t *testing.T) {
	c := testChart(1, 2, math.NaN(), 3, math.Inf(1), 5)
	c.Series[0].Points[0].Low = math.NaN()
	svg := string(c.SVG())
	lines := regexp.MustCompile(`<path class="series0" d="(M[^"]*)" fill="none"`).FindAllStringSubmatch(svg, -1)
	if want := 2; len(lines) != want { // one of them is in the legend
		t.Fatalf("%d lines, want %d:\n%s", len(lines), want, svg)
	}
	if starts := strings.Count(lines[1][1], "M"); starts != 3 {
		t.Errorf("the line %q has %d parts, want 3", lines[1][1], starts)
	}
	if !strings.Contains(svg, `d="" fill="currentColor" opacity`) {
		t.Error("an interval is drawn, though no two neighbours have one")
	}
}

// texts returns the texts of a picture with their positions.
func texts(svg []byte) (all []struct {
	x, y float64
	text string
}) {
	for _, m := range regexp.MustCompile(`<text class="[^"]*" x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(string(svg), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		all = append(all, struct {
			x, y float64
			text string
		}{x, y, m[3]})
	}
	return all
}

// TestLongNamesWrap checks that a long legend takes several rows.
func TestLongNamesWrap(t *testing.T) {
	c := testChart(1, 2)
	for i := range 4 {
		s := c.Series[0]
		s.Name = strings.Repeat("long name ", 2) + strings.Repeat("x", i)
		c.Series = append(c.Series, s)
	}
	rows := map[float64]bool{}
	for _, k := range texts(c.SVG()) {
		if strings.HasPrefix(k.text, "long name") {
			rows[k.y] = true
			if k.x+5*float64(len(k.text)) > 420 {
				t.Errorf("%q ends beyond the picture", k.text)
			}
		}
	}
	if len(rows) < 2 {
		t.Error("four long names are in one row")
	}
}

// TestKneesDoNotCover checks that labels of marks that would overlap are put in different rows.
func TestKneesDoNotCover(t *testing.T) {
	c := testChart(1, 2, 3)
	c.Marks = []Mark{{Text: "knee", X: 60, Y: math.NaN()}, {Text: "knee", X: 60, Y: math.NaN(), Color: 1}, {Text: "knee", X: 70, Y: math.NaN(), Color: 2}}
	var rows []float64
	for _, k := range texts(c.SVG()) {
		if k.text == "knee" {
			rows = append(rows, k.y)
		}
	}
	if len(rows) != 3 || rows[1] <= rows[0] || rows[2] != rows[0] {
		t.Errorf("the labels stand at the heights %v", rows)
	}
}

// TestLabelLeavesTheCurve checks that the label of an SLO is put on the side where the curve is
// far away.
func TestLabelLeavesTheCurve(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		left   bool
	}{{[]float64{100, 200, 300, 600, 980}, true}, {[]float64{980, 600, 300, 200, 100}, false}} {
		c := testChart(tt.values...)
		c.X.Ticks = []Tick{{Value: 50, Label: "50"}, {Value: 70, Label: "70"}, {Value: 90, Label: "90"}}
		for _, k := range texts(c.SVG()) {
			if left := k.x < 210; k.text == "SLO 1000" && left != tt.left {
				t.Errorf("of %v the label stands at %v", tt.values, k.x)
			}
		}
	}
}

// TestDescription checks the text alternative.
func TestDescription(t *testing.T) {
	c := testChart(200, 300, math.NaN())
	if svg := string(c.SVG()); !strings.Contains(svg, "<desc>p50: 200 ms at 50, 300 ms at 60.</desc>") {
		t.Errorf("no description in:\n%s", svg)
	}
	c.Series[0].Name = "two < three"
	if svg := string(c.SVG()); !strings.Contains(svg, "<desc>two &lt; three: 200 ms") {
		t.Errorf("the name is not escaped in:\n%s", svg)
	}
}

func TestSameInputSameFile(t *testing.T) {
	if a, b := testChart(1, 2, 3).SVG(), testChart(1, 2, 3).SVG(); string(a) != string(b) {
		t.Error("two files differ")
	}
}

func TestScales(t *testing.T) {
	for _, tt := range []struct {
		low, high float64
		want      string
	}{{0, 1200, "0 200 400 600 800 1000 1200"}, {0, 7, "0 2 4 6"}, {-3, 3, "-3 -2 -1 0 1 2 3"}, {0, 0.3, "0 0.05 0.1 0.15 0.2 0.25 0.3"}} {
		var got []string
		for _, v := range (scale{Low: tt.low, High: tt.high}).ticks() {
			got = append(got, Label(v, "")) // formatted, because the floats have rounding errors
		}
		want := strings.Fields(strings.NewReplacer("1000", "1k", "1200", "1.2k").Replace(tt.want))
		if !slices.Equal(got, want) {
			t.Errorf("ticks from %v to %v are %v, want %v", tt.low, tt.high, got, want)
		}
	}
}

// TestExtremeValues draws values at the limits of floats on each kind of axis.
func TestExtremeValues(t *testing.T) {
	values := []float64{0, 5e-324, 1e-300, 1e-110, 1e-8, 1, 1e20, 1e110, math.MaxFloat64}
	for _, low := range values {
		for _, high := range values {
			for _, y := range []Axis{{}, {Ticks: []Tick{{Value: low}}}, {Ticks: []Tick{{Value: low}, {Value: max(low, high)}}}} {
				c := testChart(low, high, -high)
				c.Y = y
				c.X = Axis{Ticks: y.Ticks}
				for i, x := range []float64{low, high, -high} {
					c.Series[0].Points[i].X = x
				}
				if found := regexp.MustCompile(`NaN|Inf`).Find(c.SVG()); found != nil {
					t.Errorf("values of %v and %v on the axis %+v: the picture has %s", low, high, y, found)
				}
			}
		}
	}
}

func TestLabel(t *testing.T) {
	for _, tt := range []struct {
		v          float64
		unit, want string
	}{
		{0, "ms", "0 s"}, {math.Copysign(0, -1), "", "0"}, {200, "ms", "200 ms"}, {1500, "ms", "1.5 s"}, {0.0002, "s", "200 µs"}, {0.3, "s", "300 ms"},
		{50, "%", "50%"}, {2500, "", "2.5k"}, {2e6, "", "2M"}, {0.1 + 0.2, "", "0.3"}, {-2500, "", "-2.5k"}, {-200, "ms", "-200 ms"},
	} {
		if got := Label(tt.v, tt.unit); got != tt.want {
			t.Errorf("Label(%v, %q) = %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}

// TestLegendShowsLastValues: the picture of a chart over time names its band and shows the value at the end of each line,
// and none where there is none.
func TestLegendShowsLastValues(t *testing.T) {
	unknown := math.NaN()
	c := Chart{X: Axis{Unit: Time}, Y: Axis{Unit: "s"}, Series: []Series{{
		Name: "usual", Band: "usual up to", Points: []Point{{0, 0.2, 0.2, 0.51234}, {60, 0.3, 0.3, 0.61234}},
	}}}
	svg := string(c.SVG())
	for _, want := range []string{">usual: 300 ms<", ">usual up to: 612 ms<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the legend lacks %q", want)
		}
	}
	c.Series[0].Points = append(c.Series[0].Points, Point{120, unknown, unknown, unknown})
	if svg := string(c.SVG()); !strings.Contains(svg, ">usual<") {
		t.Error("the legend shows a value of a minute before the end")
	}
}

// TestLimitsDoNotOverprint: labels of limits that are near each other stand on different sides, and a third
// one is left out.
func TestLimitsDoNotOverprint(t *testing.T) {
	limit := func(text string, y float64) Mark { return Mark{Text: text, X: math.NaN(), Y: y} }
	c := Chart{
		Series: []Series{{Name: "s", Points: []Point{{0, 5, 5, 5}, {1, 5, 5, 5}}}},
		Marks:  []Mark{limit("first", 2), limit("second", 2.1), limit("third", 2.2), limit("far", 4)},
	}
	svg := string(c.SVG())
	for text, want := range map[string]bool{
		`"start">first<`: true, `"end">second<`: true, "third<": false, `"start">far<`: true,
	} {
		if got := strings.Contains(svg, text); got != want {
			t.Errorf("label %q is drawn: %v, want %v", text, got, want)
		}
	}
}

package chart

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
)

// Figure returns a picture for a page, and the data of the interactive chart with which Script replaces
// it.
func Figure(c Chart) (template.HTML, error) {
	data, err := json.Marshal(newPayload(c)) // json.Marshal escapes "<"
	if err != nil {
		return "", fmt.Errorf("encoding the chart %q: %w", c.Title, err)
	}
	html := fmt.Sprintf(`<figure class="chart">%s<script type="application/json">%s</script></figure>`, c.render().file(c.Title, c.description(), ""), data)
	return template.HTML(html), nil
}

// payload is a chart as assets/charts.js reads it.
type payload struct {
	Title  string   `json:"title"`
	Desc   string   `json:"desc"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []series `json:"series"`
	Marks  []mark   `json:"marks"`
	// Each table has one column for X and one for each series; a series with intervals takes
	// three. Consecutive series with the same X share a table.
	Tables [][][]value `json:"tables"`
}

type series struct {
	Name  string `json:"name"`
	Color string `json:"color"`
	Dash  int    `json:"dash"`
	Band  bool   `json:"band,omitempty"`
	// BandName is the name of the intervals in the legend, "" for none.
	BandName string `json:"bandName,omitempty"`
	Points   bool   `json:"points"`
}

type mark struct {
	Text  string `json:"text"`
	X     value  `json:"x"`
	Y     value  `json:"y"`
	Color string `json:"color"`
	Limit bool   `json:"limit,omitempty"`
}

// value is encoded as null if it is not finite. Four digits are enough for a value of a chart,
// ten for a time.
type value float64

func (v value) MarshalJSON() ([]byte, error) {
	f, digits := float64(v), 4
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	if f > 1e6 {
		digits = 10
	}
	return strconv.AppendFloat(nil, f, 'g', digits, 64), nil
}

func newPayload(c Chart) payload {
	p := payload{
		Title: c.Title, Desc: c.description(), X: c.X, Y: c.Y,
		Series: []series{}, Marks: []mark{}, Tables: [][][]value{},
	}
	for _, m := range c.Marks {
		p.Marks = append(p.Marks, mark{m.Text, value(m.X), value(m.Y), colorClass(m.Color), m.Limit})
	}
	for _, s := range c.Series {
		if len(s.Points) == 0 {
			continue
		}
		x, columns, band := columnsFor(s)
		p.Series = append(p.Series, series{s.Name, colorClass(s.Color), s.Dash % 3, band, s.Band, s.hasDots()})
		if n := len(p.Tables); n == 0 || !slices.Equal(p.Tables[n-1][0], x) {
			p.Tables = append(p.Tables, [][]value{x})
		}
		last := &p.Tables[len(p.Tables)-1]
		*last = append(*last, columns...)
	}
	return p
}

// columnsFor returns X, and either Y alone or Y with the upper and lower ends of the intervals.
func columnsFor(s Series) (x []value, columns [][]value, band bool) {
	y, high, low := make([]value, len(s.Points)), make([]value, len(s.Points)), make([]value, len(s.Points))
	for i, p := range s.Points {
		x = append(x, value(p.X))
		y[i], high[i], low[i] = value(p.Y), value(p.High), value(p.Low)
		band = band || p.High > p.Low
	}
	if !band {
		return x, [][]value{y}, false
	}
	return x, [][]value{y, high, low}, true
}

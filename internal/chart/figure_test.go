package chart

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestFigure checks that the picture is XML, that the data holds the chart's values, and that
// no text of the chart closes an element.
func TestFigure(t *testing.T) {
	c := Chart{
		Title: "</script><b>", X: Axis{Unit: Time}, Y: Axis{Unit: "s"},
		Series: []Series{
			{Name: "p50", Points: []Point{{X: 1.7e9, Y: 0.1234567, Low: 0.1, High: 0.2}, {X: 1.7e9 + 60, Y: math.NaN()}}},
			{Name: "p95", Color: 1, Points: []Point{{X: 1.7e9, Y: 1}, {X: 1.7e9 + 60, Y: math.Inf(1)}}},
			{Name: "other", Points: []Point{{X: 1.7e9 + 30, Y: 2}}},
			{Name: "none"},
		},
		Marks: []Mark{{Text: "reload", X: 1.7e9 + 10, Y: math.NaN()}},
	}
	figure, err := Figure(c)
	if err != nil {
		t.Fatal(err)
	}
	picture, rest, _ := strings.Cut(string(figure), `<script type="application/json">`)
	data, _, ended := strings.Cut(rest, "</script></figure>")
	if !ended || strings.Contains(picture, "<style") || strings.Contains(string(figure), "<b>") {
		t.Errorf("the figure is not whole, or has a style or a tag of its own: %s", figure)
	}
	for dec := xml.NewDecoder(strings.NewReader(picture + "</figure>")); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
	}
	var got struct {
		Series []struct{ Name string }
		Tables [][][]*float64
		Marks  []struct{ X, Y *float64 }
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if len(got.Series) != 3 || len(got.Tables) != 2 || len(got.Tables[0]) != 5 || len(got.Tables[1]) != 2 {
		t.Fatalf("%d series in tables of other sizes than 5 and 2 columns: %s", len(got.Series), data)
	}
	first := got.Tables[0]
	if *first[0][1] != 1.7e9+60 || *first[1][0] != 0.1235 || first[1][1] != nil || *first[2][0] != 0.2 || first[4][1] != nil {
		t.Errorf("other values than the chart's: %s", data)
	}
	if got.Marks[0].Y != nil || *got.Marks[0].X != 1.7e9+10 {
		t.Errorf("another mark: %s", data)
	}
}

// TestStyleIsComplete checks that the style sheet defines every custom property it uses.
func TestStyleIsComplete(t *testing.T) {
	style := string(Style())
	for _, part := range strings.Split(style, "var(--")[1:] {
		name, _, _ := strings.Cut(part, ")")
		if !strings.Contains(style, "--"+name+":") {
			t.Errorf("--%s is not defined", name)
		}
	}
}

package draw

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"
)

// shade is a color with its place in the page's style sheet, which may replace
// it: the dark one differs.
type shade struct {
	name        string
	light, dark string // #rrggbb
}

// Black is not used: the library leaves it out of the file.
func ink() shade        { return shade{"ink", "#1f2430", "#e6e8ec"} }
func mutedShade() shade { return shade{"muted", "#667085", "#98a2b3"} }
func gridShade() shade  { return shade{"grid", "#e4e7ec", "#343b47"} }
func markShade() shade  { return shade{"mark", "#c81e1e", "#f97066"} }

// seriesShades are told apart by people who do not see red and green alike.
func seriesShades() []shade {
	return []shade{
		{"series0", "#1d63d8", "#6ea8fe"}, {"series1", "#c2570c", "#fd9a4b"},
		{"series2", "#0f8a6d", "#4fd1ae"}, {"series3", "#8b3fc7", "#c79bf2"},
		{"series4", "#5f6b7a", "#aab4c2"},
	}
}

func seriesShade(i int) shade {
	all := seriesShades()
	return all[i%len(all)]
}

func shades() []shade {
	return append([]shade{ink(), mutedShade(), gridShade(), markShade()}, seriesShades()...)
}

func (s shade) color() color.NRGBA {
	var c color.NRGBA
	if _, err := fmt.Sscanf(s.light, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return color.NRGBA{A: 255}
	}
	c.A = 255
	return c
}

// faint is the color of a band behind its line.
func (s shade) faint() color.NRGBA {
	c := s.color()
	c.A = 46
	return c
}

// Variables is the style sheet of the colors, for a page that holds pictures.
func Variables() string {
	var light, dark strings.Builder
	for _, s := range shades() {
		fmt.Fprintf(&light, "--%s:%s;", s.name, s.light)
		fmt.Fprintf(&dark, "--%s:%s;", s.name, s.dark)
	}
	return fmt.Sprintf(":root{%s}@media(prefers-color-scheme:dark){:root{%s}}", light.String(), dark.String())
}

var (
	families = regexp.MustCompile(`font-family:[^;"]*`)
	opening  = regexp.MustCompile(`(?s)<svg .*?>`)
)

// finish turns the library's file into one that scales with its place, says
// what it shows, uses the reader's fonts and follows the reader's colors.
func finish(canvas *vgsvg.Canvas, title string, height int) ([]byte, error) {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	text := b.String()
	text = text[strings.Index(text, "<svg"):]
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s">`, width, height, html.EscapeString(title))
	text = opening.ReplaceAllLiteralString(text, head+"\n<style>"+Variables()+"</style>")
	text = families.ReplaceAllLiteralString(text, "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	for _, s := range shades() {
		for _, spelling := range []string{s.light, strings.ToUpper(s.light)} {
			for _, property := range []string{"fill:", "stroke:"} {
				text = strings.ReplaceAll(text, property+spelling, fmt.Sprintf("%svar(--%s)", property, s.name))
			}
		}
	}
	return []byte(text), nil
}

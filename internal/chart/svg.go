package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
)

// shade is a color by its role, for a light and a dark page.
type shade struct{ name, light, dark string }

// shades are all colors. Those of series are told apart by people who do not
// see red and green alike.
func shades() []shade {
	return []shade{
		{"paper", "#ffffff", "#161a21"},
		{"ink", "#1f2430", "#e6e8ec"}, {"muted", "#667085", "#98a2b3"},
		{"grid", "#e4e7ec", "#343b47"}, {"mark", "#c81e1e", "#f97066"},
		{"series0", "#1d63d8", "#6ea8fe"}, {"series1", "#c2570c", "#fd9a4b"},
		{"series2", "#0f8a6d", "#4fd1ae"}, {"series3", "#8b3fc7", "#c79bf2"},
		{"series4", "#5f6b7a", "#aab4c2"},
	}
}

// ShadeOf names the color of a series: a class, and a custom property.
func ShadeOf(i int) string { return fmt.Sprintf("series%d", i%5) }

// StyleSheet holds the colors as custom properties, light and dark, and a class
// for each. Programs that know no custom properties get the light ones.
func StyleSheet() string {
	var light, dark, classes strings.Builder
	for _, s := range shades() {
		fmt.Fprintf(&light, "--%s:%s;", s.name, s.light)
		fmt.Fprintf(&dark, "--%s:%s;", s.name, s.dark)
		fmt.Fprintf(&classes, "svg .%s{color:%s;color:var(--%s)}", s.name, s.light, s.name)
	}
	return fmt.Sprintf(":root{%s}@media(prefers-color-scheme:dark){:root{%s}}\n%s"+
		"svg .halo{paint-order:stroke;stroke:#ffffff;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}", &light, &dark, &classes)
}

// canvas gathers the elements of a picture: the ground, and what stands on it.
type canvas struct {
	ground, figures strings.Builder
	height          float64
}

func (c *canvas) under(format string, args ...any) { fmt.Fprintf(&c.ground, format+"\n", args...) }
func (c *canvas) over(format string, args ...any)  { fmt.Fprintf(&c.figures, format+"\n", args...) }

// escape makes any text a text of an XML file, which may have no control
// characters.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
}

// text writes a line; the anchor is what x is of it: start, middle or end.
func (c *canvas) text(class string, x, y float64, anchor, text string) {
	c.over(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, num(x), num(y), anchor, escape(text))
}

// file is the whole picture. It has a ground of its own, so that it can be read
// on a page that does not follow the reader's choice of light and dark.
func (c *canvas) file(title, desc, style string) []byte {
	return fmt.Appendf(nil, `<svg viewBox="0 0 %d %s" xmlns="http://www.w3.org/2000/svg" role="img">
<title>%s</title>
<desc>%s</desc>
%s<g font-family="system-ui,-apple-system,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif" font-size="%d" fill="currentColor">
<rect class="paper" width="100%%" height="100%%"/>
%s%s</g>
</svg>
`, width, num(c.height), escape(title), escape(desc), style, textSize, &c.ground, &c.figures)
}

// num writes a place with one decimal, so that files are the same on every
// machine.
func num(v float64) string { return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") }

// textWidth is about what a text takes: the reader's font is not known.
func textWidth(text string) float64 { return 0.62 * textSize * float64(len([]rune(text))) }

package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

type color struct{ name, light, dark string }

// colors returns the palette of light and dark pages. People with red-green color blindness can
// tell the series apart.
func colors() []color {
	return []color{
		{"paper", "#ffffff", "#161a21"},
		{"ink", "#1f2430", "#e6e8ec"}, {"muted", "#667085", "#98a2b3"},
		{"grid", "#e4e7ec", "#343b47"}, {"mark", "#c81e1e", "#f97066"},
		{"series0", "#1d63d8", "#6ea8fe"}, {"series1", "#c2570c", "#fd9a4b"},
		{"series2", "#0f8a6d", "#4fd1ae"}, {"series3", "#8b3fc7", "#c79bf2"},
		{"series4", "#5f6b7a", "#aab4c2"},
	}
}

// colorClass returns the CSS class of a series' color, and the name of its custom property.
func colorClass(i int) string { return fmt.Sprintf("series%d", i%5) }

// colorStyle returns the colors as custom properties and as classes. Viewers without support
// for custom properties use the light colors.
func colorStyle() string {
	var light, dark, classes strings.Builder
	for _, s := range colors() {
		fmt.Fprintf(&light, "--%s:%s;", s.name, s.light)
		fmt.Fprintf(&dark, "--%s:%s;", s.name, s.dark)
		fmt.Fprintf(&classes, "svg .%s{color:%s;color:var(--%s)}", s.name, s.light, s.name)
	}
	const halo = "svg .halo{paint-order:stroke;stroke:#ffffff;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}"
	return fmt.Sprintf(":root{%s}@media(prefers-color-scheme:dark){:root{%s}}\n%s%s", &light, &dark, &classes, halo)
}

// canvas collects the elements of a picture. background is drawn first.
type canvas struct {
	background, foreground strings.Builder
	height                 float64
}

// addBackground and addForeground write an element. They format numbers with num.
func (c *canvas) addBackground(format string, args ...any) { add(&c.background, format, args) }
func (c *canvas) addForeground(format string, args ...any) { add(&c.foreground, format, args) }

func add(b *strings.Builder, format string, args []any) {
	for i, arg := range args {
		if v, ok := arg.(float64); ok {
			args[i] = num(v)
		}
	}
	fmt.Fprintf(b, format+"\n", args...)
}

// escape prepares a text for XML, which does not allow control characters.
func escape(text string) string { return html.EscapeString(OneLine(text)) }

// addText writes a line of text. anchor is start, middle or end.
func (c *canvas) addText(class string, x, y float64, anchor, text string) {
	c.addForeground(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, x, y, anchor, escape(text))
}

// file returns the SVG document. It paints its own background, so that it stays readable on a
// page that ignores dark mode.
func (c *canvas) file(title, desc, style string) []byte {
	return fmt.Appendf(nil, `<svg viewBox="0 0 %d %s" xmlns="http://www.w3.org/2000/svg" role="img">
<title>%s</title>
<desc>%s</desc>
%s<g font-family="system-ui,-apple-system,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif" font-size="%d" fill="currentColor">
<rect class="paper" width="100%%" height="100%%"/>
%s%s</g>
</svg>
`, width, num(c.height), escape(title), escape(desc), style, textSize, &c.background, &c.foreground)
}

// num formats a coordinate with at most one decimal. All machines then write the same file.
func num(v float64) string { return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") }

// textWidth estimates the width of a text; the font depends on the reader's machine.
func textWidth(text string) float64 { return 0.62 * textSize * float64(len([]rune(text))) }

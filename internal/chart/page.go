package chart

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

var (
	//go:embed assets/style.css
	design string
	//go:embed assets/charts.js
	charts string
	//go:embed third_party/uplot/uPlot.iife.min.js
	uPlot string
	//go:embed third_party/uplot/uPlot.min.css
	uPlotStyle string
)

// Style is the style sheet of a page: colours, spacing and type as custom
// properties, for light, dark and print, and the elements that pages share.
func Style() template.CSS { return template.CSS(StyleSheet() + "\n" + uPlotStyle + "\n" + design) }

// Charts is the script that a page with figures of Figure ends with.
func Script() template.JS { return template.JS(uPlot + "\n" + charts) }

// Hash names an inline style or script in a content security policy.
func CSPHash[T ~string](inline T) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

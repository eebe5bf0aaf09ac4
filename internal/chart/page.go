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

// Style returns the style sheet that all pages share. It has colors for light, dark and print.
func Style() template.CSS { return template.CSS(colorStyle() + "\n" + uPlotStyle + "\n" + design) }

// Script returns the script that replaces the pictures of a page by interactive charts. It
// stands at the end of the page.
func Script() template.JS { return template.JS(uPlot + "\n" + charts) }

// CSPHash returns the hash of an inline style or script for a Content-Security-Policy.
func CSPHash[T ~string](inline T) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

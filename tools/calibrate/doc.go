package main

import "synthetic/tools/splice"

// section is a generated part of docs/simulation.md.
type section struct {
	name   string
	render func([]played) string
}

func sections() []section {
	return []section{
		{"parameters", func([]played) string { return parameters() }},
		{"summary", summary},
		{"extrapolation", extrapolation},
		{"drafting", drafting},
		{"routing", routing},
		{"SLO matrix", sloMatrix},
		{"series", seriesTables},
	}
}

// tool is how the document names this command.
const tool = "calibrate"

// parts renders every section.
func parts(runs []played) []splice.Part {
	var out []splice.Part
	for _, s := range sections() {
		out = append(out, splice.Part{Name: s.name, Text: s.render(runs)})
	}
	return out
}

package report

import (
	"strconv"
	"strings"

	"synthetic/internal/serverside"
)

// addServer adds the deployment's own metrics, those of all its pages side by side.
func addServer(d *document, s *Study) {
	var columns []column
	for _, f := range serverFigures() {
		for _, series := range s.Series {
			if series.Any(func(l Level) bool { return f.text(l) != "" }) {
				columns = append(columns, ownColumn(s, series, f.title, func(l Level) cell {
					text := f.text(l)
					return cellIf(text != "", text)
				}))
			}
		}
	}
	if len(columns) > 0 {
		part := d.subsection("Server Metrics")
		part.table(byLevel(s, columns...))
		part.paragraph("As the server counts them. A figure of several pages of metrics is that of the first page in the alphabet; report.json has all.")
	}
}

type serverFigure struct {
	name, title string
	scale       float64
	unit        string
	decimals    int
}

// serverFigures returns the figures of the table, in the order of columns.
func serverFigures() []serverFigure {
	return []serverFigure{
		{serverside.KVHitRatio, "KV hit", 100, "%", 1},
		{serverside.KVUsageMax, "KV use max", 100, "%", 1},
		{serverside.QueueMean, "Waiting mean", 1, "", 1},
		{serverside.SpecAcceptance, "Acceptance", 100, "%", 2},
		{serverside.TTFTP50, "Server TTFT p50", 1000, "ms", 0},
		{serverside.ITLP50, "Server ITL p50", 1000, "ms", 1},
	}
}

// text returns the figure of a level, "" without it. Snapshots whose value was in the first or the last bucket are
// averaged apart, so there can be a lower and an upper end.
func (f serverFigure) text(l Level) string {
	var ends []string
	for _, form := range [...]struct{ sign, suffix string }{{"≤ ", serverside.AtMost}, {"", ""}, {"> ", serverside.Above}} {
		for _, v := range l.Server {
			if v.Name == f.name+form.suffix {
				ends = append(ends, form.sign+strconv.FormatFloat(v.Value*f.scale, 'f', f.decimals, 64)+f.unit)
				break
			}
		}
	}
	return strings.Join(ends, " to ")
}

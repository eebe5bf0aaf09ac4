package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// server prints what the deployment said of itself, per source.
func (b *builder) server() {
	families, names := map[string][]string{}, map[string][]string{}
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			for _, f := range l.Server {
				if !slices.Contains(names[f.Source], f.Name) {
					names[f.Source] = append(names[f.Source], f.Name)
				}
			}
			maps.Copy(families, l.Families)
		}
	}
	if len(families) == 0 {
		return
	}
	s := b.section("Server Metrics")
	for _, source := range slices.Sorted(maps.Keys(families)) {
		slices.SortFunc(names[source], func(x, y string) int {
			return cmp.Or(cmp.Compare(serverOrder(x), serverOrder(y)), cmp.Compare(x, y))
		})
		var columns []column
		for _, name := range names[source] {
			columns = append(columns, serverColumn(source, name))
		}
		found := "no known family of metrics was found"
		if len(families[source]) > 0 {
			found = "found " + strings.Join(families[source], ", ")
		}
		s.paragraph(fmt.Sprintf("From `%s`: %s. What is not listed was not there.", source, found))
		s.table(b.byLevel(columns...))
	}
}

func serverColumn(source, name string) column {
	shown := serverFigure{name: name, title: name, scale: 1, decimals: 3}
	if i := serverOrder(name); i < len(serverFigures()) {
		shown = serverFigures()[i]
	}
	return column{shown.title, func(l figures.Level) Cell {
		for _, f := range l.Server {
			if f.Source == source && f.Name == name {
				return Cell{Text: fmt.Sprintf("%.*f%s", shown.decimals, f.Value*shown.scale, shown.unit)}
			}
		}
		return cell(false, "")
	}}
}

// serverFigure is how a server figure is printed.
type serverFigure struct {
	name, title string
	scale       float64
	unit        string
	decimals    int
}

// serverFigures that have a title, in the order of their columns.
func serverFigures() []serverFigure {
	return []serverFigure{
		{runfile.ServerKVHitRatio, "KV hit", 100, "%", 1},
		{runfile.ServerKVUsageMean, "KV use mean", 100, "%", 1},
		{runfile.ServerKVUsageMax, "KV use max", 100, "%", 1},
		{runfile.ServerQueueMean, "Waiting mean", 1, "", 1},
		{runfile.ServerQueueMax, "Waiting max", 1, "", 0},
		{runfile.ServerRunningMean, "Running mean", 1, "", 1},
		{runfile.ServerRunningMax, "Running max", 1, "", 0},
		{runfile.ServerSpecDrafted, "Drafted tokens", 1, "", 0},
		{runfile.ServerSpecAccepted, "Accepted tokens", 1, "", 0},
		{runfile.ServerSpecAcceptance, "Acceptance", 100, "%", 2},
		{runfile.ServerOutputPerSecond, "Output tokens/s", 1, "", 1},
		{runfile.ServerPromptPerSecond, "Prompt tokens/s", 1, "", 1},
		{runfile.ServerTTFTP50, "TTFT p50", 1000, "ms", 0},
		{runfile.ServerTTFTP95, "TTFT p95", 1000, "ms", 0},
		{runfile.ServerITLP50, "ITL p50", 1000, "ms", 1},
		{runfile.ServerITLP95, "ITL p95", 1000, "ms", 1},
		{runfile.ServerGPUUse, "GPU use", 100, "%", 1},
		{runfile.ServerGPUPower, "GPU power", 1, "W", 0},
	}
}

// serverOrder is a figure's place among them; others come last.
func serverOrder(name string) int {
	all := append(serverFigures(), serverFigure{name: name})
	return slices.IndexFunc(all, func(f serverFigure) bool { return f.name == name })
}

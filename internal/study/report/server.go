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

// metricsPage is a page of metrics with its address in each series, because variants may have
// different addresses.
type metricsPage struct {
	sources         []string // addresses by series; "" if a series lacks the page
	names, families []string
}

// pages matches the pages of the series: by address, otherwise by the most common figures.
func (b *builder) pages() (all []*metricsPage) {
	for i, series := range b.s.Series {
		own := map[string]*metricsPage{}
		for _, l := range series.Levels {
			for source, families := range l.Families {
				own[source] = cmp.Or(own[source], &metricsPage{})
				own[source].add(nil, families)
			}
			for _, f := range l.Server {
				own[f.Source] = cmp.Or(own[f.Source], &metricsPage{})
				own[f.Source].add([]string{unbounded(f.Name)}, nil)
			}
		}
		for _, source := range slices.Sorted(maps.Keys(own)) {
			p := matchingPage(all, i, source, own)
			if p == nil {
				p = &metricsPage{sources: make([]string, len(b.s.Series))}
				all = append(all, p)
			}
			p.sources[i] = source
			p.add(own[source].names, own[source].families)
		}
	}
	return all
}

func (p *metricsPage) add(names, families []string) {
	union := func(a, b []string) []string {
		a = append(slices.Clone(a), b...)
		slices.Sort(a)
		return slices.Compact(a)
	}
	p.names, p.families = union(p.names, names), union(p.families, families)
}

// matchingPage returns the page of other series that matches a source of series i, nil if there
// is none. A page is not matched by figures if the series also has that page's address.
func matchingPage(all []*metricsPage, i int, source string, own map[string]*metricsPage) *metricsPage {
	var best *metricsPage
	mostCommon := 0
	for _, p := range all {
		if slices.Contains(p.sources, source) {
			return p
		}
		taken := p.sources[i] != "" || slices.ContainsFunc(p.sources, func(s string) bool { return s != "" && own[s] != nil })
		common := 0
		for _, name := range own[source].names {
			if slices.Contains(p.names, name) {
				common++
			}
		}
		if !taken && common > mostCommon {
			best, mostCommon = p, common
		}
	}
	return best
}

// server adds the metrics of the deployment, page by page.
func (b *builder) server() {
	all := b.pages()
	if len(all) == 0 {
		return
	}
	s := b.section("Server Metrics")
	for _, p := range all {
		slices.SortFunc(p.names, func(x, y string) int {
			return cmp.Or(cmp.Compare(serverOrder(x), serverOrder(y)), cmp.Compare(x, y))
		})
		var columns []column
		for _, name := range p.names {
			columns = append(columns, b.serverColumn(p, name))
		}
		found := "no known family of metrics was found"
		if len(p.families) > 0 {
			found = "found " + strings.Join(p.families, ", ")
		}
		s.paragraph(fmt.Sprintf("From %s: %s. Other figures were not found.", b.addresses(p), found))
		s.table(b.byLevel(columns...))
	}
}

// addresses returns the address of the page, or one address for each series.
func (b *builder) addresses(p *metricsPage) string {
	var each, all []string
	for i, source := range p.sources {
		if source != "" {
			each = append(each, fmt.Sprintf("`%s` (%s)", source, b.s.Series[i].Name))
			all = append(all, source)
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) == 1 {
		return "`" + all[0] + "`"
	}
	return strings.Join(each, ", ")
}

// serverColumn returns a column for the series that have the page.
func (b *builder) serverColumn(p *metricsPage, name string) column {
	shown := serverFigure{name: name, title: name, scale: 1, decimals: 3}
	if i := serverOrder(name); i < len(serverFigures()) {
		shown = serverFigures()[i]
	}
	cellOf := func(l figures.Level) cell {
		text := shown.text(l.Server, p.sources)
		return cellIf(text != "", text)
	}
	return column{shown.title, cellOf, func(s figures.Series) bool {
		return s.Any(func(l figures.Level) bool { return cellOf(l).Class != classUnknown })
	}}
}

type serverFigure struct {
	name, title string
	scale       float64
	unit        string
	decimals    int
}

// text returns the figure of the first of the sources that has it. Snapshots whose value was in
// the first or the last bucket are averaged apart, so there can be a lower and an upper end.
func (f serverFigure) text(all []figures.ServerFigure, sources []string) string {
	var ends []string
	for _, form := range [...]struct{ sign, suffix string }{{"≤ ", runfile.ServerAtMost}, {"", ""}, {"> ", runfile.ServerAbove}} {
		i := slices.IndexFunc(all, func(v figures.ServerFigure) bool {
			return v.Name == f.name+form.suffix && slices.Contains(sources, v.Source)
		})
		if i >= 0 {
			number := figures.Digits(all[i].Value*f.scale, f.decimals)
			if f.decimals == 0 && f.unit == "" { // a count
				number = fmt.Sprintf("%.0f", all[i].Value)
			}
			ends = append(ends, form.sign+number+f.unit)
		}
	}
	return strings.Join(ends, " to ")
}

// unbounded removes the suffix of a bound from the name of a figure.
func unbounded(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, runfile.ServerAtMost), runfile.ServerAbove)
}

// serverFigures returns the figures with a title, in the order of columns.
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
		{runfile.ServerTTFTMean, "TTFT mean", 1000, "ms", 1},
		{runfile.ServerTTFTP50, "TTFT p50", 1000, "ms", 0},
		{runfile.ServerTTFTP95, "TTFT p95", 1000, "ms", 0},
		{runfile.ServerITLMean, "ITL mean", 1000, "ms", 2},
		{runfile.ServerITLP50, "ITL p50", 1000, "ms", 1},
		{runfile.ServerITLP95, "ITL p95", 1000, "ms", 1},
		{runfile.ServerGPUUse, "GPU use", 100, "%", 1},
		{runfile.ServerGPUPower, "GPU power", 1, "W", 0},
	}
}

// serverOrder returns the position of a figure; unknown ones are last.
func serverOrder(name string) int {
	all := append(serverFigures(), serverFigure{name: name})
	return slices.IndexFunc(all, func(f serverFigure) bool { return f.name == name })
}

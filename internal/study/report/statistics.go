package report

import "synthetic/internal/study/figures"

// statistics adds a table of all statistics for each latency and series. Side by side, series
// would need too many columns.
func (b *builder) statistics() {
	for i, t := range figures.Timings() {
		if !b.s.Has(t.Statistic(figures.SD)) || t == figures.AnswerTTFT && b.sameAnswers() {
			continue
		}
		if i == 0 {
			b.section("Every Statistic").paragraph("What has too few turns is marked with how many it takes.")
		}
		for _, s := range b.s.Series {
			one := *b
			one.s, one.compares = &figures.Study{Kind: b.s.Kind, Series: []figures.Series{s}}, false
			title := t.Title()
			if b.compares {
				title += " of " + s.Name
			}
			b.subtable("Statistics: "+title, one.byLevel(one.metricColumns(t.AllMetrics()...)...))
		}
	}
}

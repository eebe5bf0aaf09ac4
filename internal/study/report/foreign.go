package report

import (
	"fmt"
	"math"
	"slices"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

const (
	// foreignShare is the least share of the server's tokens for other clients that is reported.
	foreignShare = 0.1
	// foreignRunning is how many times more turns than ours run or wait at a server that others
	// use, too.
	foreignRunning = 1.05
	// foreignErrors is the percentage of failed turns from which their tokens, which are not
	// counted, may explain a difference.
	foreignErrors = 1
)

// othersTokens returns the share of the server's output tokens that other clients received, 0 if
// the server's metrics do not show any. It takes the page of metrics with the most tokens, because
// a frontend and its workers count the same ones.
func othersTokens(s *figures.Study, l figures.Level) float64 {
	own := l.Figure(figures.OutputTokensPerSecond)
	if !own.Known() || l.Value(figures.ErrorPct) > foreignErrors || slices.ContainsFunc(s.Workload, func(p runfile.Parameter) bool { return p.Name == "cancel" }) {
		return 0
	}
	load := map[string]float64{} // turns that run or wait, by page
	total, page := 0.0, ""
	for _, f := range l.Server {
		switch f.Name {
		case runfile.ServerRunningMean, runfile.ServerQueueMean:
			load[f.Source] += f.Value
		case runfile.ServerOutputPerSecond:
			if f.Value > total {
				total, page = f.Value, f.Source
			}
		}
	}
	share := 1 - own.Value/total
	running, known := load[page]
	switch {
	case !(share > foreignShare), own.Ranged() && own.High >= total:
		return 0
	case known && running <= foreignRunning*l.Value(figures.InFlightMean):
		return 0
	}
	return share
}

// foreignShareOf returns the largest share of other clients, 0 without any.
func foreignShareOf(s *figures.Study) (most float64) {
	for _, series := range s.Series {
		for _, l := range series.Levels {
			most = math.Max(most, othersTokens(s, l))
		}
	}
	return most
}

// foreignLoad describes the largest share of other clients; "" without one.
func foreignLoad(s *figures.Study) string {
	if share := foreignShareOf(s); share > 0 {
		return fmt.Sprintf("Other clients received up to %.0f%% of the server's tokens.", 100*share)
	}
	return ""
}

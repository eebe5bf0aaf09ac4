package figures

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runfile"
)

// aiperfFile is AIPerf's name for the results of a run, which is one level.
const aiperfFile = "profile_export_aiperf.json"

// toolStatistics holds AIPerf's statistics of a metric. GuideLLM's are converted to it.
type toolStatistics struct {
	Avg, Std, Min, Max           *float64
	P50, P75, P90, P95, P99, Top *float64
	Count                        uint64
}

// addLatency adds the statistics of a latency, multiplied by scale to give ms.
func (b *toolStatistics) addLatency(l Level, t Timing, scale float64) {
	if b == nil {
		return
	}
	values := []*float64{b.Avg, b.Std, b.Min, b.P50, b.P75, b.P90, b.P95, b.P99, b.Top, b.Max}
	for i, m := range t.AllMetrics() {
		if v := values[i]; v != nil {
			f := Plain(*v * scale)
			f.N = b.Count
			l.Figures[m] = f
		}
	}
}

func (b *toolStatistics) addMean(l Level, m Metric) {
	if b != nil && b.Avg != nil {
		l.Figures[m] = Plain(*b.Avg)
	}
}

type aiperf struct {
	Version    string          `json:"aiperf_version"`
	Latency    *toolStatistics `json:"request_latency"`
	TTFT       *toolStatistics `json:"time_to_first_token"`
	Answer     *toolStatistics `json:"time_to_first_output_token"`
	TPOT       *toolStatistics `json:"inter_token_latency"`
	Turns      *toolStatistics `json:"request_throughput"`
	Tokens     *toolStatistics `json:"output_token_throughput"`
	Goodput    *toolStatistics `json:"goodput"`
	PerTurn    *toolStatistics `json:"output_sequence_length"`
	Count      *toolStatistics `json:"request_count"`
	ErrorCount *toolStatistics `json:"error_request_count"`
	EndTime    string          `json:"end_time"`
	Config     loadgen         `json:"input_config"`
}

// loadgen is AIPerf's load: of the measured phase or, in earlier versions, of the whole run.
type loadgen struct {
	Loadgen struct {
		Concurrency *float64 `json:"concurrency"`
		Rate        *float64 `json:"request_rate"`
	} `json:"loadgen"`
	Phases []struct {
		Kind        string   `json:"kind"`
		Concurrency *float64 `json:"concurrency"`
		Rate        *float64 `json:"rate"`
	} `json:"phases"`
}

func (l loadgen) level() (at float64, kind runfile.LevelKind, err error) {
	concurrency, rate := l.Loadgen.Concurrency, l.Loadgen.Rate
	for _, p := range l.Phases {
		if p.Kind == "profiling" {
			concurrency, rate = p.Concurrency, p.Rate
		}
	}
	switch {
	case rate != nil:
		return *rate, runfile.Rate, nil
	case concurrency != nil:
		return *concurrency, runfile.Concurrency, nil
	}
	return 0, "", errors.New(`"input_config" names neither a concurrency nor a rate, so the level is unknown`)
}

func parseAIPerf(data []byte) (*Study, error) {
	var r aiperf
	if err := atomicfile.ParseJSON(data, &r); err != nil {
		return nil, fmt.Errorf("reading AIPerf's results: %w; the file is cut short or was edited", err)
	}
	at, kind, err := r.Config.level()
	if err != nil {
		return nil, err
	}
	s := &Study{Title: "AIPerf " + r.Version, Kind: kind}
	s.Generated, _ = time.Parse("2006-01-02T15:04:05.999999", r.EndTime)
	l := Level{At: at, Figures: map[Metric]Figure{}}
	r.TTFT.addLatency(l, TTFT, 1)
	r.Answer.addLatency(l, AnswerTTFT, 1)
	r.TPOT.addLatency(l, TPOT, 1) // (latency − TTFT) / (tokens − 1) of each request
	r.Latency.addLatency(l, Latency, 1)
	r.Turns.addMean(l, TurnsPerSecond)
	r.Tokens.addMean(l, OutputTokensPerSecond)
	r.Goodput.addMean(l, GoodputPerSecond)
	r.PerTurn.addMean(l, OutputTokensPerTurn)
	l.addCounts(meanOrZero(r.Count), meanOrZero(r.ErrorCount))
	s.Series = []Series{{Name: "aiperf", Levels: []Level{l}}}
	return s, s.validate()
}

func meanOrZero(b *toolStatistics) float64 {
	if b == nil || b.Avg == nil {
		return 0
	}
	return *b.Avg
}

// addCounts adds counts of turns, and the figures that follow from others.
func (l Level) addCounts(completed, failed float64) {
	l.addEconomy(runfile.Hardware{})
	if completed+failed <= 0 {
		return
	}
	l.Figures[Completed], l.Figures[Failed] = Plain(completed), Plain(failed)
	l.Figures[ErrorPct] = Plain(100 * failed / (completed + failed))
}

type guidellm struct {
	Benchmarks []struct {
		Config struct {
			Strategy struct {
				Type    string   `json:"type_"`
				Streams *float64 `json:"streams"`
				Rate    *float64 `json:"rate"`
			} `json:"strategy"`
		} `json:"config"`
		EndTime float64 `json:"end_time"`
		Metrics struct {
			Totals struct {
				Successful float64 `json:"successful"`
				Errored    float64 `json:"errored"`
			} `json:"request_totals"`
			Turns   summaries `json:"requests_per_second"`
			Latency summaries `json:"request_latency"`
			TTFT    summaries `json:"time_to_first_token_ms"`
			Answer  summaries `json:"time_to_first_output_token_ms"`
			TPOT    summaries `json:"inter_token_latency_ms"`
			NTPOT   summaries `json:"time_per_output_token_ms"`
			Tokens  summaries `json:"output_tokens_per_second"`
			PerTurn summaries `json:"output_token_count"`
		} `json:"metrics"`
	} `json:"benchmarks"`
}

// summaries holds a metric by outcome of the request. Only successful ones are read.
type summaries struct {
	Successful struct {
		Mean        *float64            `json:"mean"`
		SD          *float64            `json:"std_dev"`
		Min         *float64            `json:"min"`
		Max         *float64            `json:"max"`
		Count       uint64              `json:"count"`
		Percentiles map[string]*float64 `json:"percentiles"`
	} `json:"successful"`
}

// statistics converts the summary; nil without values.
func (s summaries) statistics() *toolStatistics {
	x := s.Successful
	if x.Count == 0 {
		return nil
	}
	p := x.Percentiles
	return &toolStatistics{
		Avg: x.Mean, Std: x.SD, Min: x.Min, Max: x.Max, Count: x.Count,
		P50: p["p50"], P75: p["p75"], P90: p["p90"], P95: p["p95"], P99: p["p99"], Top: p["p999"],
	}
}

func parseGuideLLM(data []byte) (*Study, error) {
	var r guidellm
	if err := atomicfile.ParseJSON(data, &r); err != nil {
		return nil, fmt.Errorf("reading GuideLLM's results: %w; the file is cut short or was edited", err)
	}
	s := &Study{Title: "GuideLLM", Kind: runfile.Concurrency}
	for i, b := range r.Benchmarks {
		l, kind := Level{Figures: map[Metric]Figure{}}, runfile.Concurrency
		switch strategy := b.Config.Strategy; {
		case strategy.Type == "synchronous":
			l.At = 1
		case strategy.Rate != nil:
			kind, l.At = runfile.Rate, *strategy.Rate
		case strategy.Streams != nil:
			l.At = *strategy.Streams
		default: // strategy throughput sends as much as possible, so it has no level
			s.Notes = append(s.Notes, fmt.Sprintf("benchmarks[%d] with strategy %q has no level and is left out.", i, strategy.Type))
			continue
		}
		if len(s.Series) > 0 && kind != s.Kind {
			s.Notes = append(s.Notes, fmt.Sprintf("benchmarks[%d] is a %s of %g, unlike the other levels (%s), and is left out.", i, kind, l.At, s.Kind))
			continue
		}
		s.Kind = kind
		m := b.Metrics
		m.TTFT.statistics().addLatency(l, TTFT, 1)
		m.Answer.statistics().addLatency(l, AnswerTTFT, 1)
		m.TPOT.statistics().addLatency(l, TPOT, 1)
		m.NTPOT.statistics().addLatency(l, NTPOT, 1)
		m.Latency.statistics().addLatency(l, Latency, 1000)
		m.Turns.statistics().addMean(l, TurnsPerSecond)
		m.Tokens.statistics().addMean(l, OutputTokensPerSecond)
		m.PerTurn.statistics().addMean(l, OutputTokensPerTurn)
		l.addCounts(m.Totals.Successful, m.Totals.Errored)
		s.mergeLevel("guidellm", l)
		s.Generated = time.Unix(int64(b.EndTime), 0).UTC()
	}
	return s, s.validate()
}

// readAIPerfRuns reads the AIPerf runs of a directory and its immediate subdirectories as the
// levels of one study.
func readAIPerfRuns(dir string) (*Study, error) {
	var files []string
	for _, pattern := range []string{aiperfFile, "*/" + aiperfFile} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("looking for results in %s: %w", dir, err)
		}
		files = append(files, found...)
	}
	var all *Study
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading results: %w", err)
		}
		s, err := parseAIPerf(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if all = cmp.Or(all, s); all == s {
			continue
		}
		level := s.Series[0].Levels[0]
		if _, duplicate := all.Series[0].Level(level.At); duplicate || s.Kind != all.Kind {
			return nil, fmt.Errorf("%s: %s %g was measured already, or its levels are not %s; name the runs one by one", file, s.Kind, level.At, all.Kind)
		}
		all.mergeLevel("aiperf", level)
	}
	return all, nil
}

// parserOf returns the parser for a file, which its keys tell; parseRun for broken JSON.
func parserOf(text []byte) func([]byte) (*Study, error) {
	var keys fields
	switch err := json.Unmarshal(text, &keys); {
	case err != nil || keys["format"] != nil:
		return parseRun
	case keys["levels"] != nil: // JSON of a report
		return parseData
	case keys["benchmarks"] != nil:
		return parseGuideLLM
	case keys["input_config"] != nil && keys["request_latency"] != nil:
		return parseAIPerf
	}
	return parseRun
}

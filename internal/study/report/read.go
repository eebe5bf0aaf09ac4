package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runs"
)

// Read reads a study: a run of this program, the data of a report, also as the JSON block of a
// text. Errors name the file, the place and the remedy.
func Read(path string) (*Study, error) {
	file := path
	info, err := os.Stat(path)
	dir := err == nil && info.IsDir()
	if dir {
		file = filepath.Join(path, "run.json")
	}
	data, err := os.ReadFile(file)
	s := &Study{}
	switch text := bytes.TrimSpace(data); {
	case err != nil:
		return nil, fmt.Errorf("reading a run: %w; name the run.json of a sweep, or its directory", err)
	case len(text) == 0:
		err = errors.New("the file is empty: the sweep or report that wrote it did not finish; run it again")
	case text[0] == '{':
		s, err = parserOf(text)(text)
	default:
		_, block, found := bytes.Cut(text, []byte("```json\n"))
		block, _, closed := bytes.Cut(block, []byte("\n```"))
		switch {
		case !found:
			err = fmt.Errorf("neither a run.json, nor a report's data in JSON: give the run.json of the sweep, or the %s beside its report", DataFile)
		case !closed:
			err = errors.New("the JSON block is not closed: the report was written only in part; make it again")
		default:
			s, err = parseData(block)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s.File = path
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if s.Name == "run" {
		s.Name = filepath.Base(filepath.Dir(path))
	}
	return s, nil
}

// parserOf returns the parser for a file, which its keys tell; parseRun for broken JSON.
func parserOf(text []byte) func([]byte) (*Study, error) {
	var keys fields
	if json.Unmarshal(text, &keys) == nil && keys["format"] == nil && keys["levels"] != nil {
		return parseData
	}
	return parseRun
}

func parseRun(data []byte) (*Study, error) {
	run, err := runs.Parse(data)
	if err != nil {
		return nil, err
	}
	s := FromRuns([]*runs.Run{run})
	s.Run = run
	return s, nil
}

type fields map[string]json.RawMessage

// addLevelData adds a level with flat fields, or with one object per variant.
func (s *Study) addLevelData(text json.RawMessage, d *Data) error {
	var level fields
	if err := atomicfile.ParseJSON(text, &level); err != nil {
		return fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", err)
	}
	at := decodeOptional[*float64](level["concurrency"])
	if at == nil {
		if at = decodeOptional[*float64](level["rate"]); at == nil {
			return errors.New(`neither "concurrency" nor "rate" is a number`)
		}
		s.Kind = runs.Rate
	}
	if !(*at > 0) {
		return fmt.Errorf("a level of %g: it must be above 0", *at)
	}
	put := func(series string, text json.RawMessage) (known bool, err error) {
		l := Level{At: *at}
		if err := l.decode(text, d.Schema); err != nil {
			return false, err
		}
		known = len(l.Figures) > 0
		if known || d.Schema > 0 {
			s.putLevel(series, l)
		}
		return known, nil
	}
	if d.Schema == 0 || d.Variants == nil {
		if known, err := put(d.Mode, text); known || d.Schema > 0 {
			return err
		}
	}
	for _, name := range fieldNames(text) {
		if d.Schema > 0 && !slices.Contains(d.Variants, name) {
			continue
		}
		if _, err := put(name, level[name]); err != nil && d.Schema > 0 {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// orderSeries sorts the series by a list of their names; others come last.
func (s *Study) orderSeries(names []string) {
	place := func(x Series) uint { return uint(slices.Index(names, x.Name)) } // −1 comes last
	slices.SortStableFunc(s.Series, func(a, b Series) int { return cmp.Compare(place(a), place(b)) })
}

// fieldNames returns the field names of a JSON object in their order, which a map does not keep.
func fieldNames(object json.RawMessage) []string {
	var all []string
	var value json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(object))
	for _, err := dec.Token(); err == nil && dec.More(); err = dec.Decode(&value) {
		name, _ := dec.Token()
		all = append(all, fmt.Sprint(name))
	}
	return all
}

// decode reads a level. Data without a schema says which quantiles were measured only by their numbers of turns.
func (l *Level) decode(text json.RawMessage, schema int) error {
	var d levelData
	var f fields
	if err := errors.Join(json.Unmarshal(text, &d), json.Unmarshal(text, &f)); err != nil && schema > 0 {
		return fmt.Errorf("reading a report's data: %w; the file was edited", err)
	}
	d.At = l.At
	*l = d.Level
	if v := d.Verdict; v != nil && schema > 0 {
		if !slices.Contains([]runs.Standing{runs.Met, runs.Missed, runs.Undecided, runs.NotJudged}, v.Standing) {
			return fmt.Errorf("the verdict has the standing %q, which no report has", v.Standing)
		}
		l.Verdict = &v.LevelVerdict
		l.Verdict.SLOs, l.Verdict.Why = v.SLOs, v.Why
	}
	for source, figures := range d.Server {
		for name, v := range figures {
			l.Server = append(l.Server, ServerFigure{source, name, v})
		}
	}
	sortServer(l.Server)
	l.Figures = map[Metric]Figure{}
	for _, m := range dataMetrics() {
		key := m.Key()
		v, inf, nan := decodeOptional[*float64](f[key]), math.Inf(1), math.NaN()
		switch {
		case slices.Contains(d.Infinite, key):
			v = &inf
		case v == nil && schema > 0 && f[key] != nil:
			v = &nan
		case v == nil:
			continue
		}
		figure := Plain(*v)
		figure.N = d.Turns[key]
		ends, ranged := d.Intervals[key]
		open, uncertain := d.OpenIntervals[key]
		if ranged { // JSON has no +∞, so it is null there
			figure.Low, figure.High = *cmp.Or(ends[0], &inf), *cmp.Or(ends[1], &inf)
		} else if uncertain {
			figure.Low, figure.High = *cmp.Or(open[0], &nan), *cmp.Or(open[1], &nan)
		}
		figure.Quantile = m.quantile() > 0 && (ranged || uncertain || schema == 0 && figure.N > 0)
		l.Figures[m] = figure
	}
	return nil
}

// decodeOptional decodes a field. It returns the zero value if the field is absent or, in
// another tool's file, has a different type.
func decodeOptional[T any](raw json.RawMessage) T {
	var v, none T
	if raw == nil || json.Unmarshal(raw, &v) != nil {
		return none
	}
	return v
}

// putLevel adds a level to a series, creating it if needed, or replaces it.
func (s *Study) putLevel(name string, l Level) {
	i := s.seriesIndex(name)
	if i < 0 {
		i = len(s.Series)
		s.Series = append(s.Series, Series{Name: name})
	}
	levels := &s.Series[i].Levels
	j, found := slices.BinarySearchFunc(*levels, l.At, func(x Level, at float64) int { return cmp.Compare(x.At, at) })
	if !found {
		*levels = slices.Insert(*levels, j, l)
		return
	}
	(*levels)[j] = l
}

// dropEmptyQueries removes a hit rate or throughput that is 0 at every level. A deployment that
// answers has output, and a metrics store returns 0 for a query without a match.
func (s *Study) dropEmptyQueries() {
	for _, series := range s.Series {
		for _, m := range []Metric{KVHitRatePct, OutputTokensPerSecond} {
			if series.Any(func(l Level) bool { return l.Value(m) != 0 }) {
				continue
			}
			for _, l := range series.Levels {
				delete(l.Figures, m)
			}
			s.Notes = append(s.Notes, fmt.Sprintf("%s is 0 at every level of %q, so its query probably found nothing; it counts as unknown.", m.Title(), series.Name))
		}
	}
}

// Bounds of values from other tools' reports. Charts and ratios fail beyond them.
const leastLevel, mostLevel, mostFigure = 1e-9, 1e9, 1e15

// validate rejects a report without figures or with impossible values.
func (s *Study) validate() error {
	for _, series := range s.Series {
		for _, l := range series.Levels {
			if !(l.At >= leastLevel && l.At <= mostLevel) {
				return fmt.Errorf("a level of %g: it must be between %g and %g", l.At, leastLevel, mostLevel)
			}
			for m, f := range l.Figures {
				if math.Abs(f.Value) > mostFigure && !math.IsInf(f.Value, 1) {
					return fmt.Errorf("level %g: %q is %g, which is too large for a measurement", l.At, m.Key(), f.Value)
				}
			}
		}
	}
	if !s.Any(func(Level) bool { return true }) {
		return fmt.Errorf("no level has a known figure (such as %q): is this a report of a sweep?", TTFTP50.Key())
	}
	return nil
}

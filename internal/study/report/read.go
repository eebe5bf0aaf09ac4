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
	"time"

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
			err = errors.New("neither a run.json, nor a report's data in JSON: give the run.json of the sweep, or the report.md that holds its data in JSON")
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
	s := FromRun(run)
	s.Run = run
	return s, nil
}

// parseData reads the data of a published report. Fields of other types than in the reports of this program are ignored.
// Variants keep the order of the report's list, or of the text without a list. The first is the baseline.
func parseData(text []byte) (*Study, error) {
	var d data
	err := json.Unmarshal(text, &d)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !mistyped {
		return nil, fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", atomicfile.ExplainJSON(text, err))
	}
	switch {
	case d.Schema != 0:
		return nil, fmt.Errorf("this is the %s of a report, for other programs: give the run.json of the sweep", dataFile)
	case len(d.Levels) == 0:
		return nil, errors.New(`"levels" is empty: the report holds no measurement`)
	}
	s := &d.Study
	s.Kind = runs.Concurrency // a level says if it is a rate
	s.Generated, _ = time.Parse(time.RFC3339, d.Generated)
	for _, o := range d.SLOs {
		objective, err := o.objective()
		if err != nil {
			return nil, err
		}
		s.Objectives = append(s.Objectives, objective)
	}
	for i, level := range d.Levels {
		if err := s.readLevel(level, cmp.Or(d.Mode, "The deployment")); err != nil {
			return nil, fmt.Errorf("levels[%d]: %w", i, err)
		}
	}
	s.orderSeries(d.Variants)
	s.dropEmptyQueries()
	s.describe()
	return s, s.validate()
}

type fields map[string]json.RawMessage

// readLevel adds a level with flat fields, which belong to the only series, or with one object per series.
func (s *Study) readLevel(text json.RawMessage, only string) error {
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
	if !(*at >= leastLevel && *at <= mostLevel) {
		return fmt.Errorf("a level of %g: it must be between %g and %g", *at, leastLevel, mostLevel)
	}
	if s.readFigures(only, *at, text) {
		return nil
	}
	for _, name := range fieldNames(text) {
		s.readFigures(name, *at, level[name])
	}
	return nil
}

// readFigures adds a level to a series if it has a figure.
func (s *Study) readFigures(series string, at float64, text json.RawMessage) (known bool) {
	var l Level
	_ = json.Unmarshal(text, &l) // it still reads the fields whose types fit
	l.At, l.Figures = at, map[Metric]Figure{}
	values := decodeOptional[fields](text)
	for _, m := range Metrics() {
		if v := decodeOptional[*float64](values[m.Key()]); v != nil {
			l.Figures[m] = Plain(*v)
		}
	}
	if known = len(l.Figures) > 0; known {
		s.putLevel(series, l)
	}
	return known
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

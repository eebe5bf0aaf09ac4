package figures

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runfile"
)

// reference is the "Reference Data" block of a report.
type reference struct {
	Generated string            `json:"generated"`
	Title     string            `json:"title"`
	Mode      string            `json:"mode"`
	TargetRPS *float64          `json:"target_rps"`
	Variants  []string          `json:"variants"`
	Levels    []json.RawMessage `json:"levels"`
}

type fields map[string]json.RawMessage

// parseReference reads levels with flat fields, or with one object per variant. Variants keep
// the order of the report's list, or of the text without a list. The first is the baseline.
func parseReference(data []byte) (*Study, error) {
	var ref reference
	if err := atomicfile.ParseJSON(data, &ref); err != nil {
		return nil, fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", err)
	}
	if len(ref.Levels) == 0 {
		return nil, fmt.Errorf(`"levels" is empty: the report holds no measurement`)
	}
	s := &Study{Title: ref.Title, Kind: runfile.Concurrency, TargetRPS: ref.TargetRPS}
	s.Generated, _ = time.Parse(time.RFC3339, ref.Generated)
	for i, level := range ref.Levels {
		if err := s.addReference(level, ref.Mode); err != nil {
			return nil, fmt.Errorf("levels[%d]: %w", i, err)
		}
	}
	place := func(x Series) uint { return uint(slices.Index(ref.Variants, x.Name)) } // −1 comes last
	slices.SortStableFunc(s.Series, func(a, b Series) int { return cmp.Compare(place(a), place(b)) })
	s.dropEmptyQueries()
	return s, s.validate()
}

func (s *Study) addReference(text json.RawMessage, mode string) error {
	var level fields
	if err := atomicfile.ParseJSON(text, &level); err != nil {
		return fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", err)
	}
	at := decodeOptional[*float64](level["concurrency"])
	if at == nil {
		if at = decodeOptional[*float64](level["rate"]); at == nil {
			return fmt.Errorf(`neither "concurrency" nor "rate" is a number`)
		}
		s.Kind = runfile.Rate
	}
	if !(*at > 0) {
		return fmt.Errorf("a level of %g: it must be above 0", *at)
	}
	put := func(series string, f fields) (known bool) {
		values := f.figures()
		if len(values) > 0 {
			s.mergeLevel(series, Level{At: *at, Figures: values, GivenUp: decodeOptional[bool](f["given_up"]), NotReached: decodeOptional[string](f["not_reached"])})
		}
		return len(values) > 0
	}
	if put(mode, level) {
		return nil
	}
	for _, name := range fieldNames(text) {
		put(name, decodeOptional[fields](level[name]))
	}
	return nil
}

// fieldNames returns the field names of a JSON object in their order, which a map does not
// keep.
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

// figures returns the fields that are metrics with a number. The report may give their numbers
// of turns and intervals in separate fields.
func (f fields) figures() map[Metric]Figure {
	turns := decodeOptional[map[string]uint64](f["turns"])
	needed := decodeOptional[map[string]uint64](f["turns_needed"])
	intervals := decodeOptional[map[string][2]*float64](f["intervals"])
	found := map[Metric]Figure{}
	for _, m := range Metrics() {
		key := string(m)
		v := decodeOptional[*float64](f[key])
		if v == nil {
			continue
		}
		figure := Plain(*v)
		timing, _, _ := m.Latency()
		figure.N, figure.Needed = turns[key], needed[key]
		figure.Quantile = figure.N > 0 && timing != NoTiming
		if ends, ok := intervals[key]; ok { // JSON has no +∞, so it is null there
			inf := math.Inf(1)
			figure.Low, figure.High = *cmp.Or(ends[0], &inf), *cmp.Or(ends[1], &inf)
		}
		found[m] = figure
	}
	return found
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

// mergeLevel adds a level to a series, creating it if needed, or merges the figures into an
// existing level.
func (s *Study) mergeLevel(name string, l Level) {
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
	(*levels)[j].merge(l)
}

// merge adds figures of o that l lacks or knows only as printed.
func (l *Level) merge(o Level) {
	for m, f := range o.Figures {
		if have, ok := l.Figures[m]; !ok || have.Step > f.Step {
			l.Figures[m] = f
		}
	}
	l.GivenUp = l.GivenUp || o.GivenUp
	l.NotReached = cmp.Or(l.NotReached, o.NotReached)
	if o.Runs > 0 {
		l.Runs, l.Valid = o.Runs, o.Valid
	}
	l.Excluded = append(l.Excluded, o.Excluded...)
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
				if math.Abs(f.Value) > mostFigure {
					return fmt.Errorf("level %g: %q is %g, which is too large for a measurement", l.At, m, f.Value)
				}
			}
		}
	}
	if !s.Any(func(Level) bool { return true }) {
		return fmt.Errorf("no level has a known figure (such as %q): is this a report of a sweep?", TTFTP50)
	}
	return nil
}

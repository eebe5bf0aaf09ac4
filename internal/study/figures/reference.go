package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/study/runfile"
)

// isReference reports whether a JSON document is a report's data: it has
// "levels" and no "format".
func isReference(text []byte) bool {
	var probe struct {
		Format json.RawMessage `json:"format"`
		Levels json.RawMessage `json:"levels"`
	}
	return json.Unmarshal(text, &probe) == nil && probe.Format == nil && probe.Levels != nil
}

// reference is the "Reference Data" of a report.
type reference struct {
	Generated string                       `json:"generated"`
	Title     string                       `json:"title"`
	Mode      string                       `json:"mode"`
	TargetRPS *float64                     `json:"target_rps"`
	Variants  []string                     `json:"variants"`
	Levels    []map[string]json.RawMessage `json:"levels"`
}

// parseReference reads levels with flat fields, or with one object of fields
// per variant.
func parseReference(data []byte) (*Study, error) {
	var ref reference
	if err := json.Unmarshal(data, &ref); err != nil {
		return nil, fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", err)
	}
	if len(ref.Levels) == 0 {
		return nil, fmt.Errorf(`"levels" is empty: the report holds no measurement`)
	}
	s := &Study{Title: ref.Title, Kind: runfile.Concurrency, TargetRPS: ref.TargetRPS}
	s.Generated, _ = time.Parse(time.RFC3339, ref.Generated)
	names := ref.Variants
	if len(names) == 0 {
		names = variantsIn(data)
	}
	for i, fields := range ref.Levels {
		if err := s.addReference(fields, ref.Mode, &names); err != nil {
			return nil, fmt.Errorf("levels[%d]: %w", i, err)
		}
	}
	slices.SortStableFunc(s.Series, func(a, b Series) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	s.dropEmptyQueries()
	return s, s.check()
}

// addReference adds one level.
func (s *Study) addReference(fields map[string]json.RawMessage, mode string, names *[]string) error {
	at, ok := number(fields["concurrency"])
	if !ok {
		if at, ok = number(fields["rate"]); !ok {
			return fmt.Errorf(`neither "concurrency" nor "rate" is a number`)
		}
		s.Kind = runfile.Rate
	}
	if !(at > 0) {
		return fmt.Errorf("a level of %g: it must be above 0", at)
	}
	if flat := figures(fields); len(flat) > 0 {
		s.put(mode, Level{At: at, Figures: flat, GivenUp: optional[bool](fields["given_up"])})
		return nil
	}
	for name, raw := range fields {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			continue
		}
		if values := figures(inner); len(values) > 0 {
			if !slices.Contains(*names, name) {
				*names = append(*names, name)
			}
			s.put(name, Level{At: at, Figures: values, GivenUp: optional[bool](inner["given_up"])})
		}
	}
	return nil
}

// figures are the fields that are known metrics with a number, how many turns
// are behind them and their intervals, where the report says so under "turns"
// and "intervals".
func figures(fields map[string]json.RawMessage) map[string]Figure {
	turns := optional[map[string]uint64](fields["turns"])
	intervals := optional[map[string][2]*float64](fields["intervals"])
	found := map[string]Figure{}
	for _, m := range Metrics() {
		if v, ok := number(fields[m.Key]); ok {
			f := Plain(v)
			f.N = turns[m.Key]
			f.Quantile = f.N > 0 && isTiming(m.Key)
			if ends, ok := intervals[m.Key]; ok {
				f.Low, f.High = end(ends[0]), end(ends[1])
			}
			found[m.Key] = f
		}
	}
	return found
}

// optional reads a field; the zero value if it is absent, or another tool's of
// that name.
func optional[T any](raw json.RawMessage) T {
	var v, none T
	if raw == nil || json.Unmarshal(raw, &v) != nil {
		return none
	}
	return v
}

// end of an interval: JSON has no +∞, so it is null there.
func end(v *float64) float64 {
	if v == nil {
		return math.Inf(1)
	}
	return *v
}

// isTiming reports a figure of a latency.
func isTiming(key string) bool {
	return slices.ContainsFunc(Timings(), func(t Metric) bool { return strings.HasPrefix(key, t.Key+"_") })
}

func number(raw json.RawMessage) (float64, bool) {
	var v *float64
	if raw == nil || json.Unmarshal(raw, &v) != nil || v == nil {
		return 0, false
	}
	return *v, true
}

// variantsIn lists the variants in the order of the text, which a map forgets:
// the first is the baseline.
func variantsIn(data []byte) []string {
	var order []string
	dec := json.NewDecoder(bytes.NewReader(data))
	depth, key := 0, ""
	isKey := map[int]bool{}
	for {
		token, err := dec.Token()
		if err != nil {
			return order
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				// levels is at depth 2, a level at 3: an object in it is a variant.
				if t == '{' && depth == 3 && key != "" && !slices.Contains(order, key) {
					order = append(order, key)
				}
				depth++
				isKey[depth] = t == '{'
			} else {
				depth--
				isKey[depth] = depthIsObject(depth)
			}
			continue
		case string:
			if isKey[depth] {
				key, isKey[depth] = t, false
				continue
			}
		}
		isKey[depth] = depthIsObject(depth)
	}
}

// depthIsObject says what is expected after a value: in these documents only
// depth 2 is a list.
func depthIsObject(depth int) bool { return depth != 2 }

// put adds a level to a series, which it makes if need be, or adds figures to
// the level that is there.
func (s *Study) put(name string, l Level) {
	i := slices.IndexFunc(s.Series, func(x Series) bool { return x.Name == name })
	if i < 0 {
		s.Series = append(s.Series, Series{Name: name})
		i = len(s.Series) - 1
	}
	levels := &s.Series[i].Levels
	j, found := slices.BinarySearchFunc(*levels, l.At, func(x Level, at float64) int {
		switch {
		case x.At < at:
			return -1
		case x.At > at:
			return 1
		}
		return 0
	})
	if !found {
		*levels = slices.Insert(*levels, j, l)
		return
	}
	(*levels)[j].absorb(l)
}

// absorb takes what o knows better: figures that are not merely printed.
func (l *Level) absorb(o Level) {
	for key, f := range o.Figures {
		if have, ok := l.Figures[key]; !ok || have.Step > f.Step {
			l.Figures[key] = f
		}
	}
	l.GivenUp = l.GivenUp || o.GivenUp
	if o.Runs > 0 {
		l.Runs, l.Valid = o.Runs, o.Valid
	}
	l.Excluded = append(l.Excluded, o.Excluded...)
}

// dropEmptyQueries takes a hit rate or a throughput that is exactly 0 at every
// level as unknown: a deployment that answers has output, and a query to a
// metrics store that found nothing comes back as 0.
func (s *Study) dropEmptyQueries() {
	for i := range s.Series {
		for _, key := range []string{"kv_hit_rate_pct", "tops"} {
			levels := s.Series[i].Levels
			if slices.ContainsFunc(levels, func(l Level) bool { return l.Value(key) != 0 }) {
				continue
			}
			for _, l := range levels {
				delete(l.Figures, key)
			}
			m, _ := MetricOf(key)
			s.Notes = append(s.Notes, fmt.Sprintf("%s is 0 at every level of %q: a query that found nothing, taken as unknown.", m.Title, s.Series[i].Name))
		}
	}
}

// check refuses a report of which nothing could be read.
func (s *Study) check() error {
	for _, series := range s.Series {
		if len(series.Levels) > 0 {
			return nil
		}
	}
	return fmt.Errorf("no level has a known figure (such as %q): is this a report of a sweep?", "ttft_p50_ms")
}

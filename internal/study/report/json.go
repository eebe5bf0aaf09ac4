package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// reference adds the data of the report: what its main tables print, a level
// per line. The whole is in report.json.
func (b *builder) reference() {
	data, err := brief(b.s)
	if err != nil {
		b.err = fmt.Errorf("encoding a report's data: %w", err)
	}
	b.section("Reference Data (JSON)").add(Block{Code: string(data), Language: "json"})
}

func brief(s *figures.Study) ([]byte, error) {
	var b bytes.Buffer
	var failed error
	add := func(format string, value any) {
		data, err := json.Marshal(value)
		failed = cmp.Or(failed, err)
		fmt.Fprintf(&b, format, data)
	}
	b.WriteString("{\n")
	for _, f := range head(s) {
		add("  "+strconv.Quote(f.name)+": %s,\n", f.value)
	}
	b.WriteString(`  "levels": [`)
	for i, level := range levelsJSON(s, briefLevel) {
		add([]string{"\n    %s", ",\n    %s"}[min(i, 1)], level)
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes(), failed
}

// briefLevel has the figures over all turns.
func briefLevel(s *figures.Study, l figures.Level) object {
	var o object
	for _, m := range figures.Metrics() {
		_, have := l.Figures[m]
		if _, turns, _ := m.Latency(); have && turns == figures.AllTurns {
			o.add(m.Key(), finite(l.Value(m)))
		}
	}
	if len(s.Objectives) > 0 {
		o.add("slo", analysis.Judge(s.Objectives, l).String())
	}
	return o
}

// object keeps its fields in order.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON writes the fields as they stand.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Fprintf(&b, "%q:%s", f.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o *object) add(name string, value any) { *o = append(*o, field{name, value}) }

// JSON is the data of a report: the keys and units of the reports that other
// tools write, and more. A value that is unknown is null; +∞, which JSON does
// not have, is null too, with its interval's known end.
func JSON(s *figures.Study) ([]byte, error) {
	o := head(s)
	o.add("slos", objectives(s))
	o.add("levels", levelsJSON(s, levelJSON))
	o.add("highest_compliant", compliant(s))
	o.add("warnings", analysis.Warnings(s))
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	return append(data, '\n'), nil
}

// head says what was measured.
func head(s *figures.Study) object {
	var o object
	if !s.Generated.IsZero() {
		o.add("generated", s.Generated.UTC())
	}
	o.add("title", s.Title)
	var names []string
	for _, x := range s.Series {
		names = append(names, x.Name)
	}
	if len(names) == 1 {
		o.add("mode", names[0])
	} else {
		o.add("variants", names)
	}
	o.add("target_rps", s.TargetRPS)
	return o
}

func objectives(s *figures.Study) []object {
	all := []object{}
	for _, x := range s.Objectives {
		all = append(all, object{{"name", x.Name}, {"key", x.Key()}, {"threshold_ms", x.Threshold}, {"objective_pct", x.Share}})
	}
	return all
}

func compliant(s *figures.Study) object {
	o := object{}
	for _, c := range analysis.Comply(s) {
		var level *float64
		if c.Judged {
			level = &c.Highest
		}
		o.add(c.Series, level)
	}
	return o
}

func levelsJSON(s *figures.Study, of func(*figures.Study, figures.Level) object) []object {
	all := []object{}
	for _, at := range levels(s) {
		o := object{{s.LevelName(), at}}
		for _, series := range s.Series {
			l, ok := series.Level(at)
			switch {
			case !ok:
			case len(s.Series) == 1:
				o = append(o, of(s, l)...)
			default:
				o.add(series.Name, of(s, l))
			}
		}
		all = append(all, o)
	}
	return all
}

// levelJSON has the figures, then their intervals and numbers of turns.
func levelJSON(s *figures.Study, l figures.Level) object {
	var o, intervals, turns, needed object
	for _, m := range figures.Metrics() {
		f, have := l.Figures[m]
		if !have {
			continue
		}
		key := m.Key()
		o.add(key, finite(l.Value(m)))
		if f.Ranged() {
			intervals.add(key, [2]*float64{finite(f.Low), finite(f.High)})
		}
		if f.N > 0 {
			turns.add(key, f.N)
		}
		if f.Needed > f.N {
			needed.add(key, f.Needed)
		}
	}
	if l.Errors != nil {
		o.add("errors", l.Errors)
	}
	if l.Runs > 0 {
		o.add("runs", l.Runs)
		o.add("valid_runs", l.Valid)
	}
	if l.GivenUp {
		o.add("given_up", true)
	}
	if len(s.Objectives) > 0 {
		o.add("slo", analysis.Judge(s.Objectives, l).String())
	}
	for _, extra := range []field{{"intervals", intervals}, {"turns", turns}, {"turns_needed", needed}} {
		if len(extra.value.(object)) > 0 {
			o = append(o, extra)
		}
	}
	if len(l.Server) > 0 {
		o.add("server", serverJSON(l))
	}
	return o
}

func serverJSON(l figures.Level) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for _, f := range l.Server {
		if all[f.Source] == nil {
			all[f.Source] = map[string]float64{}
		}
		all[f.Source][f.Name] = f.Value
	}
	return all
}

// finite is a number, with the digits that matter; nil when it is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = math.Round(v*1e6) / 1e6
	return &v
}

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"synthetic/internal/study/figures"
)

// object is a JSON object with ordered fields.
type object []field

type field struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var fields [][]byte
	for _, f := range o {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		fields = append(fields, fmt.Appendf(nil, "%s:%s", jsonText(f.name), value))
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(fields, []byte(","))), nil
}

// jsonText returns the JSON of a value of strings and finite numbers, which cannot fail.
func jsonText(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

func (o *object) add(name string, value any) { *o = append(*o, field{name, value}) }

// briefJSON returns the data of the main tables, a level per line. report.json has everything.
func briefJSON(s *figures.Study) string {
	var b strings.Builder
	for _, f := range headJSON(s) {
		fmt.Fprintf(&b, "  %s: %s,\n", jsonText(f.name), jsonText(f.value))
	}
	var levels []string
	for _, level := range levelsJSON(s, briefLevel) {
		levels = append(levels, "    "+jsonText(level))
	}
	return "{\n" + b.String() + "  \"levels\": [\n" + strings.Join(levels, ",\n") + "\n  ]\n}\n"
}

func briefLevel(s *figures.Study, l figures.Level) object {
	var o object
	for _, m := range figures.Metrics() {
		if _, have := l.Figures[m]; have && m.InMainTables() {
			o.add(string(m), finite(l.Value(m)))
		}
	}
	if len(s.Objectives) > 0 {
		o.add("slo", Judge(s.Objectives, l).String())
	}
	return o
}

// JSON returns the data of a report, with the keys and units of other tools' reports and more.
// Unknown and infinite values are null.
func JSON(s *figures.Study) ([]byte, error) {
	objectives, compliant := []object{}, object{}
	for _, x := range s.Objectives {
		objectives = append(objectives, object{{"name", x.Name}, {"key", x.Metric()}, {"threshold_ms", x.Threshold}, {"objective_pct", x.Share}})
	}
	for _, c := range Comply(s) {
		var level *float64
		if c.Judged {
			level = &c.Highest
		}
		compliant.add(c.Series, level)
	}
	warnings := []string{}
	for _, w := range studyWarnings(s) {
		warnings = append(warnings, w.String())
	}
	data, err := json.MarshalIndent(append(headJSON(s), object{
		{"slos", objectives}, {"levels", levelsJSON(s, levelJSON)}, {"highest_compliant", compliant}, {"warnings", warnings},
	}...), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	return append(data, '\n'), nil
}

// headJSON describes the measurement.
func headJSON(s *figures.Study) object {
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

func levelsJSON(s *figures.Study, fields func(*figures.Study, figures.Level) object) []object {
	all := []object{}
	for _, at := range s.Levels() {
		o := object{{s.LevelName(), at}}
		for _, series := range s.Series {
			l, ok := series.Level(at)
			switch {
			case !ok:
			case len(s.Series) == 1:
				o = append(o, fields(s, l)...)
			default:
				o.add(series.Name, fields(s, l))
			}
		}
		all = append(all, o)
	}
	return all
}

// levelJSON returns the figures, then their intervals and numbers of turns.
func levelJSON(s *figures.Study, l figures.Level) object {
	var o, intervals, turns, needed object
	for _, m := range figures.Metrics() {
		f, have := l.Figures[m]
		if !have {
			continue
		}
		key := string(m)
		o.add(key, finite(f.Value)) // turns_needed marks values with too few turns
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
	if l.NotReached != "" {
		o.add("not_reached", l.NotReached)
	}
	if len(s.Objectives) > 0 {
		o.add("slo", Judge(s.Objectives, l).String())
	}
	for _, extra := range []field{{"intervals", intervals}, {"turns", turns}, {"turns_needed", needed}} {
		if len(extra.value.(object)) > 0 {
			o = append(o, extra)
		}
	}
	server := map[string]map[string]*float64{}
	for _, f := range l.Server {
		if server[f.Source] == nil {
			server[f.Source] = map[string]*float64{}
		}
		server[f.Source][f.Name] = finite(f.Value)
	}
	if len(server) > 0 {
		o.add("server", server)
	}
	return o
}

// finite rounds a number to 6 decimals; nil if it is not finite.
func finite(v float64) *float64 {
	// Rounding huge numbers may overflow.
	v = math.Round(v*1e6) / 1e6
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

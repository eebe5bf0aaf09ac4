package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runs"
)

// DataFile is the name of the data of a report, beside its pages.
const DataFile = "report.json"

// Schema is the version of the data that this program writes (see docs/report.schema.json).
const Schema = 1

// Data is the content of report.json, or of the JSON block of a report in Markdown. Other
// tools' reports have some of its fields, and no schema.
type Data struct {
	Schema    int    `json:"schema"`
	Generated string `json:"generated,omitempty"` // RFC 3339, UTC
	Study
	Mode     string          `json:"mode,omitempty"`     // the name of the only variant
	Variants []string        `json:"variants,omitempty"` // the names of several
	SLOs     []objectiveData `json:"slos"`
	// HighestCompliant is the proven capacity of each variant; null if unknown.
	HighestCompliant map[string]*float64 `json:"highest_compliant"`
	Warnings         []string            `json:"warnings"` // all, as the report prints them
	Levels           []json.RawMessage   `json:"levels"`
}

// levelData is what the data says about a level beside its figures. The maps have the key of a figure.
type levelData struct {
	Level
	SLO     string       `json:"slo,omitempty"` // the verdict in words
	Verdict *verdictData `json:"verdict,omitempty"`
	// In Intervals null means +∞. OpenIntervals belong to quantiles; null is an unknown end there.
	Intervals     map[string][2]*float64        `json:"intervals,omitempty"`
	OpenIntervals map[string][2]*float64        `json:"open_intervals,omitempty"`
	Infinite      []string                      `json:"infinite,omitempty"` // figures that are +∞, and null
	Turns         map[string]uint64             `json:"turns,omitempty"`
	Server        map[string]map[string]float64 `json:"server,omitempty"`
}

// verdictData adds what files of runs do not have.
type verdictData struct {
	runs.LevelVerdict
	SLOs []runs.SLOVerdict `json:"slos,omitempty"`
	Why  string            `json:"why,omitempty"`
}

// Data returns the data of a study. words describes the verdict on a level.
func (s *Study) Data(words func(Level) string) (*Data, error) {
	d := &Data{Schema: Schema, Study: *s, SLOs: []objectiveData{}, HighestCompliant: map[string]*float64{}, Warnings: []string{}}
	d.Kind = s.LevelKind()
	if !s.Generated.IsZero() {
		d.Generated = s.Generated.UTC().Format(time.RFC3339Nano)
	}
	for _, o := range s.Objectives {
		d.SLOs = append(d.SLOs, dataOf(o))
	}
	for _, series := range s.Series {
		d.Variants = append(d.Variants, series.Name)
	}
	if len(s.Series) == 1 {
		d.Mode, d.Variants = s.Series[0].Name, nil
	}
	for _, level := range s.levelObjects(func(l Level) object { return append(l.fields(dataMetrics()), field{"", l.data(words(l))}) }) {
		text, err := json.Marshal(level)
		if err != nil {
			return nil, fmt.Errorf("level %v: %w", level[0].value, err)
		}
		d.Levels = append(d.Levels, text)
	}
	return d, nil
}

// levelObjects returns the levels with the fields of each series: among those of the level, or in an object for each of
// several series.
func (s *Study) levelObjects(own func(Level) object) (all []object) {
	for _, at := range s.Levels() {
		level := object{{s.LevelName(), at}}
		for _, series := range s.Series {
			l, ok := series.Level(at)
			switch {
			case !ok:
			case len(s.Series) == 1:
				level = append(level, own(l)...)
			default:
				level = append(level, field{series.Name, own(l)})
			}
		}
		all = append(all, level)
	}
	return all
}

// Reference returns the figures of the tables as JSON with the keys of published reports. Read returns them as those of
// such a report.
func (s *Study) Reference() (string, error) {
	d, err := s.Data(func(Level) string { return "" })
	if err != nil {
		return "", err
	}
	all := object{{"generated", d.Generated}, {"title", d.Title}}
	if d.Variants == nil {
		all = append(all, field{"mode", d.Mode})
	} else {
		all = append(all, field{"variants", d.Variants}, field{"compared", d.Compared})
	}
	shown := slices.DeleteFunc(Metrics(), func(m Metric) bool { return !m.InMainTables() })
	all = append(all, object{{"metric", d.Metric}, {"target_rps", d.TargetRPS}, {"slos", d.SLOs}, {"method", d.Method}, {"deployment", d.Deployment},
		{"notes", d.Notes}, {"levels", s.levelObjects(func(l Level) object {
			known := slices.DeleteFunc(slices.Clone(shown), func(m Metric) bool { return !l.Has(m) })
			return append(l.fields(known), field{"", Level{Runs: l.Runs, Valid: l.Valid, Notes: l.Notes, Errors: l.Errors, GivenUp: l.GivenUp, NotReached: l.NotReached}})
		})}}...)
	text, err := json.MarshalIndent(all, "", "  ")
	return string(text) + "\n", err
}

// object is a JSON object with ordered fields. The fields of a value without a name are fields of the object itself.
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
		if f.name != "" {
			name, _ := json.Marshal(f.name) // a string cannot fail
			value = slices.Concat(name, []byte(":"), value)
		} else {
			value = value[1 : len(value)-1]
		}
		if len(value) > 0 {
			fields = append(fields, value)
		}
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(fields, []byte(","))), nil
}

// fields returns figures of a level; null if they are unknown or infinite.
func (l Level) fields(metrics []Metric) (all object) {
	for _, m := range metrics {
		if f, ok := l.Figures[m]; ok {
			all = append(all, field{m.Key(), Finite(f.Value)})
		}
	}
	return all
}

// dataMetrics returns the metrics that report.json has: those of reports, and one that only conclusions need.
func dataMetrics() []Metric { return append(Metrics(), TurnTimeMean) }

func (l Level) data(words string) levelData {
	d := levelData{
		Level: l, SLO: words, Intervals: map[string][2]*float64{}, OpenIntervals: map[string][2]*float64{},
		Turns: map[string]uint64{}, Server: map[string]map[string]float64{},
	}
	if v := l.Verdict; v != nil {
		d.Verdict = &verdictData{*v, v.SLOs, v.Why}
	}
	for _, m := range dataMetrics() {
		f, ok := l.Figures[m]
		if !ok {
			continue
		}
		key, ends := m.Key(), [2]*float64{Finite(f.Low), Finite(f.High)}
		switch {
		case f.Ranged():
			d.Intervals[key] = ends
		case f.Quantile:
			d.OpenIntervals[key] = ends
		}
		if math.IsInf(f.Value, 1) {
			d.Infinite = append(d.Infinite, key)
		}
		if f.N > 0 {
			d.Turns[key] = f.N
		}
	}
	for _, f := range l.Server {
		if d.Server[f.Source] == nil {
			d.Server[f.Source] = map[string]float64{}
		}
		d.Server[f.Source][f.Name] = f.Value
	}
	return d
}

// Finite returns nil for a number that is not finite. Others are not rounded, because a figure at
// a half could be printed differently after it.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// parseData reads the data of a report. Data with a schema must have the types of that schema;
// fields of other tools' reports are ignored if they have a different type. Variants keep the
// order of the report's list, or of the text without a list. The first is the baseline.
func parseData(text []byte) (*Study, error) {
	var d Data
	err := json.Unmarshal(text, &d)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !(mistyped && d.Schema == 0) {
		return nil, fmt.Errorf("reading a report's data: %w; the file is cut short or was edited", atomicfile.ExplainJSON(text, err))
	}
	switch {
	case d.Schema > Schema || d.Schema < 0:
		return nil, fmt.Errorf(`"schema" is %d, and this version reads %d: use the version that wrote the report, or render its run.json`, d.Schema, Schema)
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
	d.Mode = cmp.Or(d.Mode, "The deployment")
	for i, level := range d.Levels {
		if err := s.addLevelData(level, &d); err != nil {
			return nil, fmt.Errorf("levels[%d]: %w", i, err)
		}
	}
	s.orderSeries(d.Variants)
	if d.Schema == 0 {
		s.dropEmptyQueries()
		s.describe()
	}
	return s, s.validate()
}

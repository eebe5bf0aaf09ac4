package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/internal/study/runs"
)

// dataFile is the name of the data of a report, beside its pages.
const dataFile = "report.json"

// schema is the version of the data that this program writes (see docs/report.schema.json).
const schema = 1

// data is the head of report.json and, with levels, of a published report, which has some of its fields and no schema.
type data struct {
	Schema    int    `json:"schema"`
	Generated string `json:"generated,omitempty"` // RFC 3339, UTC
	Study
	Mode     string          `json:"mode,omitempty"`     // the name of the only variant
	Variants []string        `json:"variants,omitempty"` // the names of several
	SLOs     []objectiveData `json:"slos"`
	// HighestCompliant is the highest level of each variant that meets the SLOs as measured; null if unknown.
	HighestCompliant map[string]*float64 `json:"highest_compliant"`
	Warnings         []string            `json:"warnings"` // all, as the report prints them
	Levels           []json.RawMessage   `json:"levels,omitempty"`
}

// levelData is what report.json says about a level beside its figures. The maps have the key of a figure.
type levelData struct {
	Level
	SLO       string                        `json:"slo,omitempty"` // the verdict in words
	Verdict   *verdictData                  `json:"verdict,omitempty"`
	Intervals map[string][2]*float64        `json:"intervals,omitempty"` // null is an end that is unknown or +∞
	Infinite  []string                      `json:"infinite,omitempty"`  // figures that are +∞, and null
	Turns     map[string]uint64             `json:"turns,omitempty"`
	Server    map[string]map[string]float64 `json:"server,omitempty"`
}

// verdictData adds what files of runs do not have.
type verdictData struct {
	runs.LevelVerdict
	SLOs []runs.SLOVerdict `json:"slos,omitempty"`
	Why  string            `json:"why,omitempty"`
}

// head returns the data of a study without its levels and conclusions.
func (s *Study) head() data {
	d := data{Schema: schema, Study: *s, SLOs: []objectiveData{}, HighestCompliant: map[string]*float64{}, Warnings: []string{}}
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
	return d
}

// encode returns a head and the levels as JSON.
func (s *Study) encode(head any, own func(Level) object) ([]byte, error) {
	text, err := json.MarshalIndent(object{{"", head}, {"levels", s.levelObjects(own)}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding a report's data: %w", err)
	}
	return append(text, '\n'), nil
}

// jsonFile returns the content of report.json (see docs/report.schema.json): the figures of a study with their intervals,
// and what the report concludes from them.
func jsonFile(s *Study) ([]byte, error) {
	d := s.head()
	for _, c := range measuredCapacities(s) {
		if d.HighestCompliant[c.Variant] = nil; c.Judged() {
			d.HighestCompliant[c.Variant] = new(c.Least())
		}
	}
	d.Warnings = append(d.Warnings, defects(s)...)
	return s.encode(d, func(l Level) object {
		words := ""
		if len(s.Objectives) > 0 {
			words = matrixWords(s.Objectives, l)
		}
		return append(l.fields(dataMetrics()), field{"", l.data(words)})
	})
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

// reference returns the figures of the tables as JSON with the keys of published reports. Read reads it as such a report.
func (s *Study) reference() (string, error) {
	d := s.head()
	head := object{{"generated", d.Generated}, {"title", d.Title}}
	if d.Variants == nil {
		head = append(head, field{"mode", d.Mode})
	} else {
		head = append(head, field{"variants", d.Variants}, field{"compared", d.Compared})
	}
	head = append(head, object{{"metric", d.Metric}, {"target_rps", d.TargetRPS}, {"slos", d.SLOs}, {"method", d.Method}, {"deployment", d.Deployment}, {"notes", d.Notes}}...)
	shown := slices.DeleteFunc(Metrics(), func(m Metric) bool { return !m.InMainTables() })
	text, err := s.encode(head, func(l Level) object {
		known := slices.DeleteFunc(slices.Clone(shown), func(m Metric) bool { return !l.Has(m) })
		return append(l.fields(known), field{"", Level{Runs: l.Runs, Valid: l.Valid, Notes: l.Notes, Errors: l.Errors, GivenUp: l.GivenUp, NotReached: l.NotReached}})
	})
	return string(text), err
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
		Level: l, SLO: words, Intervals: map[string][2]*float64{}, Turns: map[string]uint64{}, Server: map[string]map[string]float64{},
	}
	if v := l.Verdict; v != nil {
		d.Verdict = &verdictData{*v, v.SLOs, v.Why}
	}
	for _, m := range dataMetrics() {
		f, ok := l.Figures[m]
		if !ok {
			continue
		}
		if f.Quantile || f.Ranged() {
			d.Intervals[m.Key()] = [2]*float64{Finite(f.Low), Finite(f.High)}
		}
		if math.IsInf(f.Value, 1) {
			d.Infinite = append(d.Infinite, m.Key())
		}
		if f.N > 0 {
			d.Turns[m.Key()] = f.N
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

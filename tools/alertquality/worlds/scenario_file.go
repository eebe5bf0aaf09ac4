package worlds

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
)

type scenarioFile struct {
	Models []Model `yaml:"models" min:"1" examples:"[{name: busy, like: typical, daily: 0.4}]"`
	Faults []Fault `yaml:"faults" min:"1" examples:"[{name: creep, kind: slow, size: 1.5, ramp: 1h, length: 4h}]"`
}

const leastScenario = "write at least models: [{name: busy, like: typical, daily: 0.4}]"

// LoadScenario reads and checks a scenario file. A model inherits missing parameters from the
// model in Like. The error is a yamlform.Errors with every mistake.
func LoadScenario(path string) (Scenario, error) {
	data, err := yamlform.Read(path)
	if err != nil {
		return Scenario{}, err
	}
	var f scenarioFile
	form, err := yamlform.Decode(path, data, leastScenario, &f)
	if err != nil {
		return Scenario{}, err
	}
	if len(f.Models)+len(f.Faults) == 0 && form.Err() == nil {
		form.Mistake("", "", "neither models nor faults are there", leastScenario)
	}
	c := checker{form}
	c.models(f.Models)
	c.faults(f.Faults)
	if err := form.Err(); err != nil {
		return Scenario{}, err
	}
	return Scenario(f), nil
}

// checker completes a scenario and checks keys that depend on each other.
type checker struct{ *yamlform.Form }

func (c checker) models(models []Model) {
	taken := map[string]string{}
	var named []string
	for _, m := range Models() {
		taken[m.Name] = "a model of the program"
		named = append(named, m.Name)
	}
	for i := range models {
		m, path := &models[i], yamlform.Index("models", i)
		c.Name(path, m.Name, "model", taken)
		base, err := ModelNamed(m.Like)
		if err == nil {
			yamlform.Inherit(c.Form, path, m, base)
			m.Like, m.builtin = base.Name, base.builtin
			c.model(path, *m)
		} else if c.Valid(path + ".like") {
			c.Mistake(path+".like", m.Like, "is no named model", yamlform.Suggest(m.Like, named, "models"))
		}
	}
}

// model checks parameters that depend on each other.
func (c checker) model(path string, m Model) {
	inOrder(c, path, "turns_min", "turns_max", m.TurnsMin, m.TurnsMax)
	inOrder(c, path, "burst_min", "burst_max", m.BurstMin, m.BurstMax)
	inOrder(c, path, "outlier_min", "outlier_max", m.OutlierMin, m.OutlierMax)
	c.answerTime(path, m)
	c.needs(path, "shifts_per_month", m.ShiftsPerMonth, "shift_sd: 0.05", m.ShiftSD)
	c.needs(path, "shift_sd", m.ShiftSD, "shifts_per_month: 4", m.ShiftsPerMonth)
}

// inOrder checks that the value of low is not above the value of high. The error is about the
// key that the file contains.
func inOrder[T int | float64](c checker, path, low, high string, least, most T) {
	lowAt, highAt := path+"."+low, path+"."+high
	switch {
	case least <= most || !c.Valid(lowAt, highAt):
	case c.Has(highAt):
		c.Mistake(highAt, fmt.Sprint(most), fmt.Sprintf("is below %s, which is %v", low, least), fmt.Sprintf("write %v or more, or a lower %s", least, low))
	default:
		c.Mistake(lowAt, fmt.Sprint(least), fmt.Sprintf("is above %s, which is %v", high, most), fmt.Sprintf("write %v or less, or a higher %s", most, high))
	}
}

// answerTime checks that a normal answer ends before the prober's timeout, which the simulation
// does not enforce.
func (c checker) answerTime(path string, m Model) {
	key := path + ".output_tokens"
	if !c.Has(key) {
		key = path + ".tpot"
	}
	took := m.FirstTTFT + time.Duration(m.Output-1)*m.TPOT
	if took > turnTimeout && c.Valid(path+".output_tokens", path+".tpot", path+".first_ttft") {
		c.Mistake(key, "", fmt.Sprintf("makes answers of %v, longer than the deadline of a turn of %v", took.Round(time.Second), model.Duration(turnTimeout)), "write fewer output_tokens, or a shorter tpot")
	}
}

// needs reports a parameter without effect because the parameter other is 0.
func (c checker) needs(path, key string, v float64, other string, otherV float64) {
	name, _, _ := strings.Cut(other, ":")
	if v > 0 && otherV == 0 && c.Has(path+"."+key) && c.Valid(path+"."+key, path+"."+name) {
		c.Mistake(path+"."+key, fmt.Sprint(v), "has no effect while "+name+" is 0", "write for example "+other)
	}
}

// mostOnset is longer than any run; sums with it still fit in a duration.
const mostOnset = 10 * 365 * 24 * time.Hour

func (c checker) faults(faults []Fault) {
	taken := map[string]string{}
	for i, f := range faults {
		path := yamlform.Index("faults", i)
		c.faultName(path, f.Name, taken)
		c.faultSize(path, f)
		c.notLonger(path, "ramp", f.Ramp, f.Length)
		c.notLonger(path, "within", f.Within, f.Length)
		for j, onset := range f.At {
			if onset > mostOnset {
				c.Mistake(yamlform.Index(path+".at", j), model.Duration(onset).String(), fmt.Sprintf("is above %v", model.Duration(mostOnset)), "write a time within --days")
			}
		}
	}
	if c.Valid("faults") {
		c.onsets(faults)
	}
}

// faultName checks a name, which must fit in a table cell.
func (c checker) faultName(path, name string, taken map[string]string) {
	key := path + ".name"
	switch first := taken[name]; {
	case !c.Valid(key):
		return
	case len(name) > 63 || strings.ContainsAny(name, "|\r\n"):
		c.Mistake(key, strings.Join(strings.Fields(name), " "), "is not a valid name", "use one line of up to 63 bytes without |")
	case first != "":
		c.Mistake(key, name, "is also the name of "+first, "give each fault its own name")
	}
	taken[name] = path
}

// faultSize checks that a size is given if the kind has one.
func (c checker) faultSize(path string, f Fault) {
	sized := f.Kind == Slow || f.Kind == SlowDecode
	switch {
	case !c.Valid(path + ".kind"):
	case !sized:
		c.NoEffect(path, "on "+string(f.Kind)+", which has no size", "remove it", "size", "ramp")
	case !c.Has(path+".size") && c.Valid(path):
		c.Mistake(path+".size", "", "is missing", "write for example size: 1.5, the factor of the slowdown")
	}
}

// notLonger checks that ramp or within is not longer than the fault.
func (c checker) notLonger(path, key string, part, length time.Duration) {
	if part > length && c.Valid(path+"."+key, path+".length") {
		most := model.Duration(length)
		c.Mistake(path+"."+key, model.Duration(part).String(), fmt.Sprintf("is longer than the fault, which lasts %v", most), fmt.Sprintf("write %v or less, or a longer length", most))
	}
}

// onsets checks that either all faults have fixed times or none has, and that placed faults are
// far enough apart.
func (c checker) onsets(faults []Fault) {
	placed := PlaceFaults(faults, 0)
	for i, f := range faults {
		if len(placed) > 0 && len(f.At) == 0 {
			c.Mistake(yamlform.Index("faults", i), "", "has random times beside faults with fixed ones", "write at for every fault, or for none")
			return
		}
	}
	for i := 1; i < len(placed); i++ {
		before, next := placed[i-1], placed[i]
		if free := before.To + minGap; next.From < free {
			c.Mistake("faults", "", fmt.Sprintf("%s and %s are too close to tell their pages apart", before, next), fmt.Sprintf("begin %s at %s or later", next.Fault.Name, model.Duration(free.Round(time.Second))))
			return
		}
	}
}

package config

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/backtest"
)

// leastScenario is the remedy of a file that holds no scenario at all.
const leastScenario = "write at least models: [{name: busy, like: typical, daily: 0.4}]"

// LoadScenario reads and validates a scenario of the backtest, as Load does a
// configuration.
func LoadScenario(path string) (backtest.Scenario, error) {
	data, err := readLimited(path)
	if err != nil {
		return backtest.Scenario{}, Errors{{File: path, Message: "cannot be read (" + reasonOf(err) + ")", Remedy: "name a readable YAML file"}}
	}
	var f fileScenario
	d, problems := decode(path, data, leastScenario, &f)
	if problems != nil {
		return backtest.Scenario{}, problems
	}
	b := &builder{decoder: d}
	if len(f.Models)+len(f.Faults) == 0 && len(d.problems) == 0 {
		b.mistake("", "", "neither models nor faults are there", leastScenario)
	}
	s := backtest.Scenario{Models: b.models(f.Models), Faults: b.faults(f.Faults)}
	if len(d.problems) > 0 {
		return backtest.Scenario{}, d.problems.sorted()
	}
	return s, nil
}

// models resolves the noise models.
func (b *builder) models(in []fileModel) []backtest.Model {
	taken := map[string]string{}
	var own []string
	for _, m := range backtest.Models() {
		taken[m.Name] = "a model of the program"
		own = append(own, m.Name)
	}
	var out []backtest.Model
	for i, f := range in {
		at := index("models", i)
		b.name(at, f.Name, "model", taken)
		base, err := backtest.ModelNamed(f.Like)
		if err != nil && b.fine(at+".like") {
			b.mistake(at+".like", shown(f.Like), "is no named model", suggest(f.Like, own, "models"))
		}
		if err == nil {
			out = append(out, b.modelLike(at, base, f))
		}
	}
	return out
}

// modelLike changes a model, and checks parameters that concern each other.
func (b *builder) modelLike(at string, m backtest.Model, f fileModel) backtest.Model {
	m.Name, m.Like = f.Name, m.Name
	f.change(&m)
	inOrder(b, at, "turns_min", "turns_max", m.TurnsMin, m.TurnsMax)
	inOrder(b, at, "burst_min", "burst_max", m.BurstMin, m.BurstMax)
	inOrder(b, at, "outlier_min", "outlier_max", m.OutlierMin, m.OutlierMax)
	b.answerTime(at, m)
	b.together(at, "shifts_per_month", m.ShiftsPerMonth, "shift_sd: 0.05", m.ShiftSD)
	b.together(at, "shift_sd", m.ShiftSD, "shifts_per_month: 4", m.ShiftsPerMonth)
	return m
}

// inOrder checks that of two parameters of a model the first is not above the
// second. The one that was written is to blame.
func inOrder[T int | float64](b *builder, at, low, high string, least, most T) {
	lowAt, highAt := join(at, low), join(at, high)
	switch {
	case least <= most || !b.fine(lowAt, highAt):
	case b.has(highAt):
		b.mistake(highAt, fmt.Sprint(most), fmt.Sprintf("is below %s, which is %v", low, least), fmt.Sprintf("write %v or more, or a lower %s", least, low))
	default:
		b.mistake(lowAt, fmt.Sprint(least), fmt.Sprintf("is above %s, which is %v", high, most), fmt.Sprintf("write %v or less, or a higher %s", most, high))
	}
}

// answerTime checks that a usual answer ends before the prober gives it up,
// which the simulation does not do.
func (b *builder) answerTime(at string, m backtest.Model) {
	key := join(at, "output_tokens")
	if !b.has(key) {
		key = join(at, "tpot")
	}
	took := m.FirstTTFT + time.Duration(m.Output-1)*m.TPOT
	if took > backtest.TurnTimeout && b.fine(join(at, "output_tokens"), join(at, "tpot"), join(at, "first_ttft")) {
		b.mistake(key, "", fmt.Sprintf("makes answers of %v, longer than the deadline of a turn of %v", took.Round(time.Second), duration(backtest.TurnTimeout)), "write fewer output_tokens, or a shorter tpot")
	}
}

// together reports a parameter that does nothing while another one is 0.
func (b *builder) together(at, key string, v float64, other string, otherV float64) {
	name, _, _ := strings.Cut(other, ":")
	if v > 0 && otherV == 0 && b.has(join(at, key)) && b.fine(join(at, key), join(at, name)) {
		b.mistake(join(at, key), fmt.Sprint(v), "has no effect while "+name+" is 0", "write for example "+other)
	}
}

// change overwrites what is written of a model.
func (f fileModel) change(m *backtest.Model) {
	put(&m.ConversationsPerMinute, f.ConversationsPerMinute)
	put(&m.TurnsMin, f.TurnsMin)
	put(&m.TurnsMax, f.TurnsMax)
	put(&m.FirstTTFT, (*time.Duration)(f.FirstTTFT))
	put(&m.FollowupTTFT, (*time.Duration)(f.FollowupTTFT))
	put(&m.TPOT, (*time.Duration)(f.TPOT))
	put(&m.Output, f.Output)
	put(&m.FirstToken, (*time.Duration)(f.FirstToken))
	put(&m.Sigma, f.Sigma)
	put(&m.PaceSigma, f.PaceSigma)
	put(&m.LevelSD, f.LevelSD)
	put(&m.LevelTime, (*time.Duration)(f.LevelTime))
	put(&m.Daily, f.Daily)
	put(&m.Weekly, f.Weekly)
	put(&m.BurstsPerDay, f.BurstsPerDay)
	put(&m.BurstLength, (*time.Duration)(f.BurstLength))
	put(&m.BurstMin, f.BurstMin)
	put(&m.BurstMax, f.BurstMax)
	put(&m.Outliers, f.Outliers)
	put(&m.OutlierMin, f.OutlierMin)
	put(&m.OutlierMax, f.OutlierMax)
	put(&m.Failures, f.Failures)
	put(&m.ShiftsPerMonth, f.ShiftsPerMonth)
	put(&m.ShiftSD, f.ShiftSD)
}

func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

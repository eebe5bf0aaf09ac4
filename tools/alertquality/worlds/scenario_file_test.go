package worlds

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/config/yamlform"
)

func TestBadScenario(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":   {"", `1:1: the file is empty: write at least models: [{name: busy, like: typical, daily: 0.4}]`},
		"nothing": {"{}", `1:1: neither models nor faults are there: write at least models: [{name: busy, like: typical, daily: 0.4}]`},
		"unknown key": {"models: [{name: a, sigmas: 1}]",
			`1:20: models[0].sigmas: unknown key: did you mean "sigma"?`},
		"unknown model": {"models: [{name: a, like: quite}]",
			`1:26: models[0].like: "quite" is no named model: did you mean "quiet"?`},
		"model of the program": {"models: [{name: quiet}]",
			`1:17: models[0].name: "quiet" is also the name of a model of the program: give each model its own name`},
		"two models": {"models: [{name: a}, {name: a}]",
			`1:28: models[1].name: "a" is also the name of models[0]: give each model its own name`},
		"no unit": {"models: [{name: a, tpot: 20}]",
			`1:26: models[0].tpot: "20" has no unit: write 20s for seconds or 20ms for milliseconds`},
		"range": {"models: [{name: a, outliers: 2}]",
			`1:30: models[0].outliers: "2" is above 1: write 1 or less`},
		"no probes": {"models: [{name: a, conversations_per_minute: 0}]",
			`1:46: models[0].conversations_per_minute: "0" is not above 0: write for example conversations_per_minute: 12`},
		"order": {"models: [{name: a, turns_max: 2}]",
			`1:31: models[0].turns_max: "2" is below turns_min, which is 3: write 3 or more, or a lower turns_min`},
		"order of the other": {"models: [{name: a, burst_min: 0.6}]",
			`1:31: models[0].burst_min: "0.6" is above burst_max, which is 0.55: write 0.55 or less, or a higher burst_max`},
		"answers without end": {"models: [{name: a, tpot: 1s, output_tokens: 500}]",
			`1:45: models[0].output_tokens: makes answers of 8m19s, longer than the deadline of a turn of 2m: write fewer output_tokens, or a shorter tpot`},
		"never": {"faults: [{name: a, kind: hang, length: 1h, at: [11y]}]",
			`1:49: faults[0].at[0]: "11y" is above 10y: write a time within --days`},
		"shifts of no size": {"models: [{name: a, shifts_per_month: 4}]",
			`1:38: models[0].shifts_per_month: "4" has no effect while shift_sd is 0: write for example shift_sd: 0.05`},
		"shifts at no time": {"models: [{name: a, shift_sd: 0.1}]",
			`1:30: models[0].shift_sd: "0.1" has no effect while shifts_per_month is 0: write for example shifts_per_month: 4`},
		"kind": {"faults: [{name: a, kind: slower, length: 1h}]",
			`1:26: faults[0].kind: "slower" is not one of the allowed values: did you mean "slow"?`},
		"no size": {"faults: [{name: a, kind: slow, length: 1h}]",
			`1:10: faults[0].size: is missing: write for example size: 1.5, the factor of the slowdown`},
		"faster": {"faults: [{name: a, kind: slow, size: 0.5, length: 1h}]",
			`1:38: faults[0].size: "0.5" is not above 1: write for example size: 1.5`},
		"size of an outage": {"faults: [{name: a, kind: outage, size: 2, length: 1h}]",
			`1:40: faults[0].size: has no effect on outage, which has no size: remove it`},
		"ramp of a hang": {"faults: [{name: a, kind: hang, ramp: 1m, length: 1h}]",
			`1:38: faults[0].ramp: has no effect on hang, which has no size: remove it`},
		"long ramp": {"faults: [{name: a, kind: slow, size: 2, ramp: 2h, length: 1h}]",
			`1:47: faults[0].ramp: "2h" is longer than the fault, which lasts 1h: write 1h or less, or a longer length`},
		"late": {"faults: [{name: a, kind: hang, within: 2h, length: 1h}]",
			`1:40: faults[0].within: "2h" is longer than the fault, which lasts 1h: write 1h or less, or a longer length`},
		"no length": {"faults: [{name: a, kind: hang}]",
			`1:10: faults[0].length: is missing: write for example length: 4h`},
		"two faults": {"faults: [{name: a, kind: hang, length: 1h}, {name: a, kind: outage, length: 1h}]",
			`1:52: faults[1].name: "a" is also the name of faults[0]: give each fault its own name`},
		"cell": {"faults: [{name: a|b, kind: hang, length: 1h}]",
			`1:17: faults[0].name: "a|b" is not a valid name: use one line of up to 63 bytes without |`},
		"some at random": {"faults: [{name: a, kind: hang, length: 1h, at: [1h]}, {name: b, kind: hang, length: 1h}]",
			`1:55: faults[1]: has random times beside faults with fixed ones: write at for every fault, or for none`},
		"too close": {"faults: [{name: a, kind: hang, length: 1h, at: [1h]}, {name: b, kind: hang, length: 1h, at: [2h]}]",
			`1:9: faults: a at 1h0m0s and b at 2h0m0s are too close to tell their pages apart: begin b at 2h15m or later`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scenario.yml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadScenario(path)
			if err == nil {
				t.Fatal("accepted")
			}
			if got := strings.ReplaceAll(err.Error(), path+":", ""); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestExampleScenario: the keys of the example replace the inherited parameters.
func TestExampleScenario(t *testing.T) {
	got, err := LoadScenario("../scenario.yml")
	if err != nil {
		t.Fatal(err)
	}
	want := Typical()
	want.Name, want.Like = "evenings", "typical"
	want.ConversationsPerMinute, want.TurnsMin, want.TurnsMax = 6, 3, 6
	want.FirstTTFT, want.FollowupTTFT = 300*time.Millisecond, 200*time.Millisecond
	want.TPOT, want.Output, want.FirstToken, want.PaceSigma = 25*time.Millisecond, 100, 30*time.Second, 0.15
	want.TTFTObjective = 2 * time.Second
	want.Sigma, want.LevelSD, want.LevelTime, want.Daily, want.Weekly = 0.45, 0.07, 2*time.Hour, 0.35, 0.05
	want.BurstsPerDay, want.BurstLength, want.BurstMin, want.BurstMax = 10, 3*time.Minute, 0.2, 0.7
	want.Outliers, want.OutlierMin, want.OutlierMax, want.Failures = 0.005, 3, 12, 0.001
	want.ShiftsPerMonth, want.ShiftSD = 4, 0.05
	if diff := cmp.Diff([]Model{want}, got.Models, cmpopts.IgnoreUnexported(Model{})); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if len(got.Models[0].builtin.effects) != len(want.builtin.effects) {
		t.Error("the model does not move as the one that it is like")
	}
	faults := []Fault{
		{Name: "cache lost", Kind: Slow, Size: 2, Length: time.Hour},
		{Name: "creep", Kind: Slow, Size: 1.8, Ramp: time.Hour, Length: 4 * time.Hour, Within: 2 * time.Hour},
		{Name: "one worker of six", Kind: Slow, Size: 4, Share: 0.17, Length: time.Hour},
		{Name: "no drafter", Kind: SlowDecode, Size: 1.6, Length: 2 * time.Hour},
		{Name: "half down", Kind: Outage, Share: 0.5, Length: 15 * time.Minute},
		{Name: "wedged", Kind: Hang, Length: 15 * time.Minute},
	}
	if diff := cmp.Diff(faults, got.Faults, cmpopts.IgnoreUnexported(Fault{})); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestEveryModelParameter: the keys are exactly the parameters of a model, under the names in
// reports, and the example shows all of them.
func TestEveryModelParameter(t *testing.T) {
	keys := keysOf(reflect.TypeFor[Model]())
	var want []string
	for f := range reflect.TypeFor[Model]().Fields() {
		if !f.IsExported() {
			continue // properties of built-in models
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		want = append(want, name)
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys (-parameters +keys):\n%s", diff)
	}
	example, err := os.ReadFile("../scenario.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range append(keys, keysOf(reflect.TypeFor[Fault]())...) {
		if !strings.Contains(string(example), key+": ") {
			t.Errorf("the example does not show %q", key)
		}
	}
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, k := range yamlform.Fields(t) {
		keys = append(keys, k.Name)
	}
	return keys
}

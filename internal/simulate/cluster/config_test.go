package cluster

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for want, faults := range map[string][]Fault{
		`fault 1 (melt): kind "melt" is unknown`:            {{Kind: "melt"}},
		"fault 1 (hang): it starts at -1ns":                 {{Kind: Hang, At: -1}},
		"fault 1 (hang): it starts at 0s and lasts -1ns":    {{Kind: Hang, For: -1}},
		"fault 2 (hang): there is no worker 3: give 0 to 0": {{Kind: Hang}, {Kind: Hang, Workers: []int{3}}},
		"fault 1 (slow_decode): factor is -1":               {{Kind: SlowDecode, Factor: -1}},
		"fault 1 (slow_decode): factor is NaN":              {{Kind: SlowDecode, Factor: math.NaN()}},
	} {
		c := small()
		c.Faults = faults
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nlacks %q", err, want)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		if _, err := Preset(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := Preset("h100"); err == nil || !strings.Contains(err.Error(), `preset "h100" is unknown: give one of ["phase0" "eagle3" "trtllm-rr"`) {
		t.Errorf("error %v", err)
	}
}

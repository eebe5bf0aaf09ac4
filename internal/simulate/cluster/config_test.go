package cluster

import (
	"strings"
	"testing"
)

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

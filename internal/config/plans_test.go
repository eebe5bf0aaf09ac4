package config

import (
	"path/filepath"
	"testing"
)

// TestPlans loads every plan of plans/.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d plans (%v), want at least 5", len(files), err)
	}
	presets := []string{"phase0", "eagle3", "trtllm-rr", "trtllm-kv", "bench-phase0", "bench-eagle3"}
	for _, path := range files {
		if _, err := LoadPlan(path, presets); err != nil {
			t.Error(err)
		}
	}
}

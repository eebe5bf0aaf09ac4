package main

import (
	"testing"
	"time"
)

func TestWantsOne(t *testing.T) {
	for name, tt := range map[string]struct {
		single bool
		share  float64
		late   time.Duration
		want   bool
	}{
		"idle":                   {false, 0.02, 0, true},
		"idle and late":          {true, 0.02, 12 * time.Millisecond, false},
		"less load than before":  {false, 0.45, 0, false},
		"more load than before":  {true, 0.45, 0, true},
		"too much for one":       {true, 0.55, 0, false},
		"more than one can give": {false, 1.7, 0, false},
	} {
		if got := wantsOne(tt.single, tt.share, tt.late); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

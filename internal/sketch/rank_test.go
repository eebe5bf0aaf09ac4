package sketch

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestRankAndAtAreInverse(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			s := sketchOf(sample(draw, 9, 3000))
			last := math.Inf(-1)
			for rank := 0.5; rank <= 3000; rank += 7.3 {
				v := s.At(rank)
				if v < last || v < s.Quantile(0) || v > s.Quantile(1) {
					t.Fatalf("At(%g) = %g after %g, extremes %g … %g", rank, v, last, s.Quantile(0), s.Quantile(1))
				}
				last = v
				if q := s.Quantile(rank / 3000); math.Abs(v-q) > 2.03*Error*max(q, v) {
					t.Errorf("At(%g) = %g, the quantile is %g", rank, v, q)
				}
				// Repeated values share one value for many ranks.
				if name == "log-normal" && math.Abs(s.Rank(v)-rank) > 1e-6*3000 {
					t.Errorf("Rank(At(%g)) = %g", rank, s.Rank(v))
				}
			}
		})
	}
}

func TestRankOfOddValues(t *testing.T) {
	s := sketchOf([]float64{0, 1, 2, 3})
	for v, want := range map[float64]float64{-1: 0, 0: 1, 3: 4, 9: 4} {
		if got := s.Rank(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("Rank(%g) = %g, want %g", v, got, want)
		}
	}
	var empty Sketch
	if empty.Rank(1) != 0 || !math.IsNaN(empty.At(1)) {
		t.Errorf("an empty sketch has rank %g and value %g", empty.Rank(1), empty.At(1))
	}
}

func TestJSONKeepsEverything(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			want := sketchOf(sample(draw, 3, 1000))
			data, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var got Sketch
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			requireSame(t, &got, want)
		})
	}
	data, err := json.Marshal(&Sketch{})
	var got Sketch
	if err != nil || json.Unmarshal(data, &got) != nil || got.Count() != 0 || got.Bytes() != 0 {
		t.Errorf("an empty sketch becomes %s, read back as %d values (%v)", data, got.Count(), err)
	}
}

func TestJSONRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{"count":2,"min":1,"max":1,"bins":"0:1"}`:             "its bins hold 1 values, its count says 2",
		`{"count":1,"min":2,"max":1,"bins":"0:1"}`:             "the minimum 2 or the maximum 1 is invalid",
		`{"count":1,"sum":1,"max":1e14,"bins":"0:1"}`:          "the maximum 1e+14 is invalid",
		`{"count":1,"bins":"0:1","max":1}`:                     "the minimum 0 or the maximum 1 is invalid",
		`{"count":2,"sum":9,"max":1,"bins":"0:2"}`:             "the sum 9",
		`{"count":2,"sum":-1,"max":1,"bins":"0:2"}`:            "the sum -1",
		`{"count":0,"zero":18446744073709551615,"bins":"0:1"}`: "18446744073709551615 of 0 values at 0",
		`{"count":2,"min":1,"max":2,"bins":"4:1,-1:1"}`:        `bin "-1:1" is out of order`,
		`{"count":1,"min":1,"max":2,"bins":"x:1"}`:             `bin "x:1" is not index:count`,
		`{"count":0,"min":1,"max":2,"bins":"3:0"}`:             "count of at least 1",
		`{"count":1,"min":1,"max":2,"bins":"99999:1"}`:         "out of range",
		`{"count":"1"}`: "reading a distribution",
	} {
		var s Sketch
		if err := json.Unmarshal([]byte(data), &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", data, err, want)
		}
	}
}

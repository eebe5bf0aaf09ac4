package sketch

import (
	"encoding/json"
	"math"
	"testing"
)

// FuzzUnmarshal checks that an accepted sketch is valid: its ranks and quantiles rise, it can
// be merged, and encoding it gives the same data again.
func FuzzUnmarshal(f *testing.F) {
	var s Sketch
	for _, v := range []float64{0, 1e-9, 0.2, 0.21, 5, 1e13} {
		s.Add(v)
	}
	text, err := json.Marshal(&s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"count":18446744073709551615,"zero":18446744073709551615,"sum":1e308,"min":0,"max":1e308}`))
	f.Add([]byte(`{"count":1,"bins":"-1382:1","sum":-1,"min":1e-308,"max":1e-308}`))
	f.Add([]byte(`{"count":0,"zero":18446744073709551615,"bins":"1:1"}`))
	f.Add([]byte(`{"count":1,"bins":"0:1","max":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again, twice Sketch
		if json.Unmarshal(data, &s) != nil {
			return
		}
		text, err := json.Marshal(&s)
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil {
			t.Fatalf("read from %s, written as %s: %v", data, text, err)
		}
		twice.Merge(&s)
		twice.Merge(&again)
		if math.IsInf(twice.Sum(), 0) {
			t.Errorf("%s: a sum of %g", data, twice.Sum())
		}
		last := s.Quantile(0)
		for _, q := range []float64{0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
			v := s.Quantile(q)
			if s.Count() == 0 {
				continue
			}
			if !(v >= last) || v > s.Quantile(1) || v != again.Quantile(q) {
				t.Errorf("%s: quantile %g is %g, after %g and up to %g; read again %g", data, q, v, last, s.Quantile(1), again.Quantile(q))
			}
			if at := s.At(q * float64(s.Count())); !(at >= s.Quantile(0) && at <= s.Quantile(1)) {
				t.Errorf("%s: rank %g × %d is at %g", data, q, s.Count(), at)
			}
			last = v
		}
	})
}

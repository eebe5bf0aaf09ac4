package runfile

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func of(values ...float64) *Sample {
	s := &Sample{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// TestQuantilesAreExact: values within 1 %, which a sketch merges, stay distinct.
func TestQuantilesAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a, b Sample
	var values []float64
	for range 5000 {
		v := 0.2 * math.Exp(0.3*rng.NormFloat64())
		values = append(values, v)
		a.Add(v)
		b.Add(v * 0.995)
	}
	slices.Sort(values)
	for _, q := range []float64{0, 0.5, 0.95, 0.99, 1} {
		want := values[max(int(math.Ceil(q*5000)), 1)-1]
		if got := a.Quantile(q); math.Abs(got-want) > 1e-6 {
			t.Errorf("q %g is %.7f, want %.7f", q, got, want)
		}
		if ratio := b.Quantile(q) / a.Quantile(q); math.Abs(ratio-0.995) > 1e-4 {
			t.Errorf("q %g: half a per cent less is told as %.5f", q, ratio)
		}
	}
	if got := a.Rank(values[2499]); math.Abs(got-2500) > 1 {
		t.Errorf("rank of the median %g", got)
	}
	if got := a.At(2500); math.Abs(got-values[2499]) > 1e-3 {
		t.Errorf("value at the rank of the median %g, want about %g", got, values[2499])
	}
}

func TestJSON(t *testing.T) {
	s := of(0.181446, 0.181034, 0.181046)
	data, err := json.Marshal(s)
	if err != nil || string(data) != `"181034,12,400"` {
		t.Fatalf("written as %s (%v)", data, err)
	}
	var back Sample
	if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back.micros, s.micros) {
		t.Errorf("read back as %v (%v)", back.micros, err)
	}
	for _, text := range []string{`"1,-1"`, `"x"`, `"1,"`, `"9223372036854775807,1"`, `1`, `"10000000000001"`} {
		if err := json.Unmarshal([]byte(text), new(Sample)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// TestOldFilesJoinNewOnes: a sketch and exact values merge to a sketch.
func TestOldFilesJoinNewOnes(t *testing.T) {
	var old Sample
	old.Bin(0.3)
	data, err := json.Marshal(&old)
	if err != nil {
		t.Fatal(err)
	}
	var back Sample
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*Sample{{of(0.1), &back}, {&back, of(0.1)}} {
		var s Sample
		s.Merge(pair[0])
		s.Merge(pair[1])
		if s.Count() != 2 || s.Error() == 0 || math.Abs(s.Quantile(1)-0.3) > 1e-9 || math.Abs(s.Sum()-0.4) > 1e-9 {
			t.Errorf("%d values up to %g, sum %g", s.Count(), s.Quantile(1), s.Sum())
		}
	}
}

// FuzzUnmarshal: accepted data are equal after writing, and ranks rise.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`"181034,12,400"`))
	f.Add([]byte(`{"count":1,"sum":1,"min":1,"max":1,"bins":"0:1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again Sample
		if json.Unmarshal(data, &s) != nil {
			return
		}
		text, err := json.Marshal(&s)
		if err != nil || json.Unmarshal(text, &again) != nil || again.Count() != s.Count() {
			t.Fatalf("%s is written as %s (%v)", data, text, err)
		}
		if s.Count() > 0 && (s.Quantile(0.5) > s.Quantile(0.9) || again.Quantile(0.5) != s.Quantile(0.5)) {
			t.Errorf("%s: p50 %g, p90 %g", data, s.Quantile(0.5), s.Quantile(0.9))
		}
	})
}

package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type row struct {
	minute  int64
	numbers [3]uint32
}

func all(l *MinuteLog, from int64) (out []row) {
	for m, r := range l.From(from) {
		out = append(out, row{m, [3]uint32(r)})
	}
	return out
}

// TestMinuteLog compares a log with a plain list: over gaps, clocks that are set back, columns
// that are constant, jump or are noise, and rows that are too old.
func TestMinuteLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l MinuteLog
	var want []row
	minute, rare := int64(29_000_000), uint32(7)
	for i := range 8000 {
		switch rng.IntN(500) {
		case 0:
			minute += rng.Int64N(100_000)
		case 1:
			minute -= rng.Int64N(300)
		case 2:
			rare = rng.Uint32()
		default:
			minute++
		}
		r := row{minute, [3]uint32{math.Float32bits(float32(math.Exp(rng.NormFloat64()))), rare, uint32(i / 100)}}
		l.Put(r.minute, r.numbers[:]...)
		for len(want) > 0 && want[len(want)-1].minute >= minute {
			want = want[:len(want)-1]
		}
		want = append(want, r)
	}
	if got := all(&l, 0); !slices.Equal(got, want) || l.Last() != minute {
		t.Fatalf("%d rows up to %d, want %d up to %d", len(got), l.Last(), len(want), minute)
	}
	from := want[len(want)/2].minute + 1
	late := slices.DeleteFunc(slices.Clone(want), func(o row) bool { return o.minute < from })
	if got := all(&l, from); !slices.Equal(got, late) {
		t.Errorf("%d rows from the middle on, want %d", len(got), len(late))
	}
	before := len(l.chunks)
	if l.Forget(from); len(l.chunks) >= before || !slices.Equal(all(&l, from), late) {
		t.Errorf("%d of %d chunks are left, and %d rows, want %d", len(l.chunks), before, len(all(&l, from)), len(late))
	}
	if l.Cut(0); l.Last() != 0 || all(&l, 0) != nil {
		t.Errorf("cut from its beginning on it has %d rows", len(all(&l, 0)))
	}
}

// TestSize checks that a constant column costs a bit a row, and noise little more than its own
// bits.
func TestSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var l MinuteLog
	const rows = 20_000
	for i := range int64(rows) {
		l.Put(i+1, uint32(rng.IntN(256)), 5, math.Float32bits(0.25))
	}
	held := 0
	for _, c := range l.chunks {
		held += cap(c.code.data)
	}
	if perRow := 8 * float64(held) / rows; perRow > 12 {
		t.Errorf("8 bits of noise and two columns at rest take %.1f bits a row, want at most 12", perRow)
	}
}

// FuzzLog checks that all rows are read as they were written.
func FuzzLog(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 255, 255, 255, 255, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var l MinuteLog
		var want []row
		for i := 0; i+4 <= len(data); i += 4 {
			v := uint32(data[i]) | uint32(data[i+1])<<8 | uint32(data[i+2])<<16 | uint32(data[i+3])<<24
			r := row{int64(i) + int64(v>>24), [3]uint32{v, v >> 16, v << 31}}
			if n := len(want); n > 0 && r.minute <= want[n-1].minute {
				continue
			}
			l.Put(r.minute, r.numbers[:]...)
			want = append(want, r)
		}
		if got := all(&l, 0); !slices.Equal(got, want) {
			t.Errorf("put %v, got %v", want, got)
		}
	})
}

package config

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/backtest"
)

// mostOnset is longer than any run; sums with it still fit in a duration.
const mostOnset = duration(10 * 365 * 24 * time.Hour)

// faults resolves the faults.
func (b *builder) faults(in []fileFault) []backtest.Fault {
	taken := map[string]string{}
	var out []backtest.Fault
	for i, f := range in {
		at := index("faults", i)
		b.faultName(at, f.Name, taken)
		b.faultSize(at, f)
		b.notLonger(at, "ramp", f.Ramp, f.Length)
		b.notLonger(at, "within", f.Within, f.Length)
		fault := backtest.Fault{
			Name: f.Name, Kind: backtest.FaultKind(f.Kind), Size: f.Size, Share: float64(f.Share),
			Ramp: dur(f.Ramp), Length: dur(f.Length), Within: dur(f.Within),
		}
		for j, onset := range f.At {
			if onset > mostOnset {
				b.mistake(index(at+".at", j), onset.String(), fmt.Sprintf("is above %v", mostOnset), "write a time within --days")
			}
			fault.At = append(fault.At, dur(onset))
		}
		out = append(out, fault)
	}
	if b.fine("faults") {
		b.onsets(out)
	}
	return out
}

// faultName checks a name, which stands in the cell of a table.
func (b *builder) faultName(at, name string, taken map[string]string) {
	key := at + ".name"
	switch first := taken[name]; {
	case !b.fine(key):
		return
	case len(name) > 63 || strings.ContainsAny(name, "|\r\n"):
		b.mistake(key, shown(strings.Join(strings.Fields(name), " ")), "is not a valid name", "use one line of up to 63 bytes without |")
	case first != "":
		b.mistake(key, shown(name), "is also the name of "+first, "give each fault its own name")
	}
	taken[name] = at
}

// faultSize checks that a size is there where one is meant.
func (b *builder) faultSize(at string, f fileFault) {
	if !b.fine(at + ".kind") {
		return
	}
	sized := f.Kind == string(backtest.Slow) || f.Kind == string(backtest.SlowDecode)
	for _, key := range []string{"size", "ramp"} {
		if !sized && b.has(join(at, key)) && b.fine(join(at, key)) {
			b.mistake(join(at, key), "", "has no effect on "+f.Kind+", which has no size", "remove it")
		}
	}
	if sized && !b.has(at+".size") && b.fine(at) {
		b.mistake(at+".size", "", "is missing", "write for example size: 1.5, the factor of the slowdown")
	}
}

// notLonger checks that a part of a fault is over when the fault is.
func (b *builder) notLonger(at, key string, part, length duration) {
	if part > length && b.fine(join(at, key), at+".length") {
		b.mistake(join(at, key), part.String(), fmt.Sprintf("is longer than the fault, which lasts %v", length), fmt.Sprintf("write %v or less, or a longer length", length))
	}
}

// onsets checks that fixed times are those of every fault, and far enough
// apart to tell whose page is whose.
func (b *builder) onsets(faults []backtest.Fault) {
	fixed := 0
	for _, f := range faults {
		fixed += min(len(f.At), 1)
	}
	for i, f := range faults {
		if fixed > 0 && len(f.At) == 0 {
			b.mistake(index("faults", i), "", "has random times beside faults with fixed ones", "write at for every fault, or for none")
			return
		}
	}
	placed := backtest.Place(faults, 0)
	for i := 1; i < len(placed); i++ {
		before, next := placed[i-1], placed[i]
		if free := before.To + backtest.Apart; next.From < free {
			b.mistake("faults", "", fmt.Sprintf("%s and %s are too close to tell their pages apart", before, next), fmt.Sprintf("begin %s at %s or later", next.Fault.Name, duration(free.Round(time.Second))))
			return
		}
	}
}

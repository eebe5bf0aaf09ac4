package slo

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// Windows lists the lengths that alert windows are stretched to, in order.
// Neighbours differ by at most the factor 2, so that stretching overshoots
// little and yet few different windows are recorded.
func Windows() []time.Duration {
	const (
		m   = time.Minute
		h   = time.Hour
		day = 24 * h
	)
	return []time.Duration{
		5 * m, 10 * m, 15 * m, 20 * m, 30 * m, 45 * m,
		h, 90 * m, 2 * h, 3 * h, 4 * h, 6 * h, 8 * h, 12 * h, 18 * h,
		day, 36 * h, 2 * day, 3 * day, 4 * day, 5 * day, 7 * day, 10 * day,
		14 * day, 21 * day, 28 * day, 45 * day, 60 * day, 90 * day,
	}
}

// WindowAtLeast is the shortest of Windows that is no shorter than d, or the
// longest one.
func WindowAtLeast(d time.Duration) time.Duration {
	all := Windows()
	i, _ := slices.BinarySearch(all, d)
	return all[min(i, len(all)-1)]
}

// Period is a window of objectives, and the names of those that have it.
type Period struct {
	Window time.Duration
	Names  []string
}

// Periods are the windows of objectives, in the order of their appearance.
func Periods(objectives []Objective) []Period {
	var out []Period
	for _, o := range objectives {
		i := slices.IndexFunc(out, func(p Period) bool { return p.Window == o.Window })
		if i < 0 {
			i, out = len(out), append(out, Period{Window: o.Window})
		}
		out[i].Names = append(out[i].Names, o.Name)
	}
	return out
}

// Short writes a duration as PromQL does: "5m", "1h30m", "3d".
func Short(d time.Duration) string { return model.Duration(d).String() }

// number writes a figure for a sentence, with at most four digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

package slo

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// windows returns the possible lengths of alert windows, ascending. Each is at most twice the previous one, so that a
// stretched window is not much longer than needed and there are few different ones to record.
func windows() []time.Duration {
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

// WindowAtLeast returns the shortest of windows that is at least d, or the longest one.
func WindowAtLeast(d time.Duration) time.Duration {
	all := windows()
	i, _ := slices.BinarySearch(all, d)
	return all[min(i, len(all)-1)]
}

// Period is a window and the names of the objectives that have it.
type Period struct {
	Window time.Duration
	Names  []string
}

// Periods groups objectives by window, in order of appearance.
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

// FormatDuration formats a duration as in PromQL: "5m", "1h30m", "3d".
func FormatDuration(d time.Duration) string { return model.Duration(d).String() }

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

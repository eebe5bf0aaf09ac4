package trace

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// clock is how the times of a file are to be read. sure is false if only the format suggests the unit of numbers.
type clock struct {
	unit time.Duration
	sure bool
}

// setTime sets the time of the record: a number of units, or a date as the time since 1970 in UTC. "" is none.
func (r *Record) setTime(c clock, text string) (err error) {
	if r.timed = text != ""; !r.timed {
		return nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if !c.sure {
			r.guessed = c.unit
		}
		r.At, err = scaleTime("timestamp", n, c.unit)
		return err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			r.At = time.Duration(at.UnixNano())
			return nil
		}
	}
	return fmt.Errorf("%.40q is not a time; write 2026-12-01 10:00:00.25, 2026-12-01T10:00:00Z or a number", text)
}

// scaleTime converts n units to a duration. Negative and huge numbers are errors.
func scaleTime(key string, n float64, unit time.Duration) (time.Duration, error) {
	if d := n * float64(unit); d >= 0 && d < math.MaxInt64/2 {
		return time.Duration(d), nil
	}
	if n > 0 {
		return 0, fmt.Errorf("%s is %g, which is too large; write it in units of %s", key, n, unit)
	}
	return 0, fmt.Errorf("%s is %g; write a number of at least 0", key, n)
}

// Recorded traffic has a request a minute to a thousand a second.
const longestMean, shortestMean = time.Minute, time.Millisecond

// checkUnit rejects times in a guessed unit if they can be in the other one as well, or only in that. mean is the
// mean time between requests.
func checkUnit(guessed, mean time.Duration) error {
	other := time.Second
	if guessed == time.Second {
		other = time.Millisecond
	}
	if asOther := time.Duration(float64(mean) / float64(guessed) * float64(other)); guessed == 0 || asOther < shortestMean || asOther > longestMean {
		return nil
	}
	return fmt.Errorf("the times may be in units of %s or of %s; rename timestamp to timestamp_s or timestamp_ms", guessed, other)
}

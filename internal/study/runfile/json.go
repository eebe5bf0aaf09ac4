package runfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"synthetic/internal/sketch"
)

// maxMicros is the largest allowed value in microseconds.
const maxMicros = int64(sketch.Largest)

// MarshalJSON writes exact values as one string, which keeps an indented file short:
// microseconds in rising order, each as the difference from the previous one ("181034,12,401").
// Binned values are written like a sketch.
func (s *Sample) MarshalJSON() ([]byte, error) {
	if s.binned != nil {
		return s.binned.MarshalJSON()
	}
	s.sort()
	text, last := []byte{'"'}, int64(0)
	for i, v := range s.micros {
		if i > 0 {
			text = append(text, ',')
		}
		text, last = strconv.AppendInt(text, v-last, 10), v
	}
	return append(text, '"'), nil
}

// UnmarshalJSON reads either form. It rejects falling values and values too large for a turn.
func (s *Sample) UnmarshalJSON(data []byte) error {
	*s = Sample{sorted: true}
	if len(data) == 0 || data[0] != '"' {
		s.binned = &sketch.Sketch{}
		return s.binned.UnmarshalJSON(data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("reading the values of turns: %w", err)
	}
	if text == "" {
		return nil
	}
	s.micros = make([]int64, 0, strings.Count(text, ",")+1)
	last := int64(0)
	for step := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(step, 10, 64)
		if err != nil || v < 0 || v > maxMicros-last {
			return fmt.Errorf("reading the values of turns: %q is no step of microseconds from one value to the next", step)
		}
		last += v
		s.micros = append(s.micros, last)
	}
	return nil
}

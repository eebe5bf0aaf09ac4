package trace

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Summary is what a whole trace, or its window, has in it.
type Summary struct {
	// Records are conversations, Turns their requests.
	Records, Turns int
	// Lap is how long they take, with a mean interval after the last one; 0 without
	// times.
	Lap time.Duration
	// Prompt are all prompts' tokens, those of the history with them, about as many
	// as their texts have where lengths are not known; Cached are the most of them
	// that a prefix cache can serve. Output are those of the answers, but for those of
	// Open turns, whose length is not known.
	Prompt, Cached, Output float64
	Open                   int
}

// charsPerToken is about that of English.
const charsPerToken = 4.5

// Rate is the mean of conversations per second; 0 without times.
func (s Summary) Rate() float64 {
	if s.Lap <= 0 {
		return 0
	}
	return float64(s.Records) / s.Lap.Seconds()
}

// Survey reads a trace to its end, and returns what is in it or its first mistake.
func Survey(path string, o Options) (Summary, error) {
	r, err := Open(path, o)
	if err != nil {
		return Summary{}, err
	}
	defer r.Close()
	var s Summary
	var first, last time.Duration
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, err
		}
		if s.Records == 0 {
			first = rec.At
		}
		last = rec.At
		s.add(&rec)
	}
	if s.Records == 0 {
		return s, fmt.Errorf("%s: no session begins in the window; widen it", path)
	}
	if span := last - first; span > 0 {
		s.Lap = span + span/time.Duration(s.Records-1)
	}
	return s, nil
}

func (s *Summary) add(r *Record) {
	s.Records++
	history := 0.0
	for i := range r.Turns {
		t := &r.Turns[i]
		s.Turns++
		s.Cached += history
		own := float64(t.Prompt)
		if own == 0 {
			for _, m := range t.Messages {
				own += float64(len(m.Content)) / charsPerToken
			}
		}
		if len(t.Blocks) > 0 {
			s.Cached += own
		}
		if t.Output == 0 {
			s.Open++
		}
		history += own
		s.Prompt += history
		s.Output += float64(t.Output)
		history += float64(t.Output)
	}
}

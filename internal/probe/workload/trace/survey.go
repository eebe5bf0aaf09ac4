package trace

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Summary describes a whole trace, or its window.
type Summary struct {
	Records int // conversations
	// Prompt counts the tokens of all prompts including the history, estimated from texts if
	// there are no lengths. Cached is the most a prefix cache can serve. Output counts the
	// answers, except for UnknownOutputs turns without a length.
	Prompt, Cached, Output float64
	UnknownOutputs         int
	LeftOut                LeftOut
}

// CharsPerToken is close to the ratio of current tokenizers for English text. It applies where no server has
// counted tokens.
const CharsPerToken = 4.5

// Survey reads a whole trace. It returns a summary or the first error.
func Survey(path string, o Options) (Summary, error) {
	r, err := Open(path, o)
	if err != nil {
		return Summary{}, err
	}
	defer r.Close()
	var s Summary
	var first, last, guessed time.Duration
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
		last, guessed = rec.At, rec.guessed
		s.add(&rec)
	}
	if s.LeftOut, err = r.LeftOut(); err != nil {
		return s, err
	}
	if s.Records == 0 {
		return s, fmt.Errorf("%s: no record is in the window; make it longer", path)
	}
	if span := last - first; span > 0 {
		if err := checkUnit(guessed, span/time.Duration(s.Records-1)); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, nil
}

func (s *Summary) add(r *Record) {
	s.Records++
	history := 0.0
	for i := range r.Turns {
		t := &r.Turns[i]
		s.Cached += history
		tokens := t.tokens()
		if len(t.Blocks) > 0 {
			s.Cached += tokens
		}
		if t.Output == 0 {
			s.UnknownOutputs++
		}
		history += tokens
		s.Prompt += history
		s.Output += float64(t.Output)
		history += float64(t.Output)
	}
}

// tokens returns the length of a prompt, which is estimated if it was not recorded.
func (t *Turn) tokens() float64 {
	if t.Prompt > 0 {
		return float64(t.Prompt)
	}
	n := 0
	for _, m := range t.Messages {
		n += len(m.Content)
	}
	return float64(n) / CharsPerToken
}

package trace

import (
	"errors"
	"io"
)

// Summary describes a trace.
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
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.LeftOut, err = r.LeftOut()
			return s, err
		}
		if err != nil {
			return s, err
		}
		s.add(&rec)
	}
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

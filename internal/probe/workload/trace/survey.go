package trace

import (
	"cmp"
	"errors"
	"io"
)

// Summary describes a trace.
type Summary struct {
	Records int // conversations
	// Prompt counts the tokens of all prompts including the history, estimated from texts if
	// there are no lengths. Cached is the most a prefix cache can serve: recorded texts and blocks
	// are the same at each replay of the file. Output counts the answers.
	Prompt, Cached, Output float64
	LeftOut                LeftOut
}

// CharsPerToken is close to the ratio of current tokenizers for English text. It applies where no server has
// counted tokens.
const CharsPerToken = 4.5

// Survey reads a whole trace. It returns a summary or the first error. An answer of unknown length counts
// with some tokens.
func Survey(path string, o Options, unknownOutput int) (Summary, error) {
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
		s.add(&rec, unknownOutput)
	}
}

func (s *Summary) add(r *Record, unknownOutput int) {
	s.Records++
	history := 0.0
	for i := range r.Turns {
		t := &r.Turns[i]
		s.Cached += history
		tokens := t.tokens()
		if len(t.Blocks) > 0 || len(t.Messages) > 0 {
			s.Cached += tokens
		}
		history += tokens
		s.Prompt += history
		output := float64(cmp.Or(t.Output, unknownOutput))
		s.Output += output
		history += output
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

// Command prompts writes a set of conversations to be replayed: JSON Lines of
// OpenAI messages, one prompt each, of lengths spread evenly between two
// bounds. Equal flags give equal files; the defaults are those of
// plans/003-prompts.jsonl.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"synthetic/internal/probe/workload"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "prompts:", err)
		os.Exit(2)
	}
}

// set describes a set of prompts.
type set struct {
	count int
	seed  uint64
	// shortest and longest prompt in tokens, with what the chat template adds.
	shortest, longest int
	// charsPerToken and template are how the deployment counts.
	charsPerToken float64
	template      int
}

func run(args []string, w io.Writer) error {
	var s set
	flags := flag.NewFlagSet("prompts", flag.ContinueOnError)
	flags.IntVar(&s.count, "count", 16, "how many prompts")
	flags.Uint64Var(&s.seed, "seed", 3, "which texts")
	flags.IntVar(&s.shortest, "shortest", 3612, "length of the shortest prompt in tokens")
	flags.IntVar(&s.longest, "longest", 8000, "length of the longest prompt in tokens")
	flags.Float64Var(&s.charsPerToken, "chars-per-token", 4, "how many characters the deployment counts as a token")
	flags.IntVar(&s.template, "template", 7, "how many tokens the chat template adds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected %q: there are flags only", flags.Arg(0))
	}
	data, err := s.jsonLines()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// check refuses a set that could not be made.
func (s set) check() error {
	switch {
	case s.count < 1:
		return fmt.Errorf("-count=%d: a set has at least one prompt", s.count)
	case s.shortest <= s.template:
		return fmt.Errorf("-shortest=%d: the template alone has %d tokens", s.shortest, s.template)
	case s.longest < s.shortest:
		return fmt.Errorf("-longest=%d is less than -shortest=%d: swap the two", s.longest, s.shortest)
	case !(s.charsPerToken >= 1 && s.charsPerToken <= 100):
		return fmt.Errorf("-chars-per-token=%g: write a number from 1 to 100", s.charsPerToken)
	}
	return nil
}

// jsonLines has one conversation per line.
func (s set) jsonLines() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range s.count {
		opening, err := s.prompt(i)
		if err != nil {
			return nil, err
		}
		if err := enc.Encode(map[string][]workload.Message{"messages": opening}); err != nil {
			return nil, fmt.Errorf("encoding prompt %d: %w", i+1, err)
		}
	}
	return b.Bytes(), nil
}

// tokens is the length of the i-th prompt, from 0. Short and long ones take
// turns, so that any stretch of the file has about the mean length.
func (s set) tokens(i int) int {
	rank := i / 2
	if i%2 == 1 {
		rank = s.count - 1 - i/2
	}
	return s.shortest + (s.longest-s.shortest)*rank/max(s.count-1, 1)
}

// prompt is the i-th one. Each has the title of its own index, so that no two
// begin alike and share blocks of a prefix cache.
func (s set) prompt(i int) ([]workload.Message, error) {
	chars := float64(s.tokens(i)-s.template) * s.charsPerToken
	source, err := workload.NewSource(workload.Spec{
		Seed: s.seed, TurnsMin: 1, TurnsMax: 1, PromptTokens: int(chars/workload.DefaultCharsPerToken + 0.5),
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("making prompt %d: %w", i+1, err)
	}
	c := source.Next()
	for range i {
		c = source.Next()
	}
	return c.Opening, nil
}

// Package turns reads turn logs.
package turns

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload/trace"
)

// Turn has the keys of a line that its readers use. Durations are in seconds; unknown values are nil.
type Turn struct {
	At             time.Time      `json:"at"`
	Target         string         `json:"target"`
	Workload       string         `json:"workload"`
	Kind           probe.TurnKind `json:"turn"`
	Outcome        probe.Outcome  `json:"outcome"`
	Proof          probe.Proof    `json:"proof"`
	TTFT           *float64       `json:"ttft_seconds"`
	TPOT           *float64       `json:"tpot_seconds"`
	Duration       *float64       `json:"duration_seconds"`
	PromptTokens   *int           `json:"prompt_tokens"`
	CachedTokens   *int           `json:"cached_prompt_tokens"`
	OutputTokens   *int           `json:"output_tokens"`
	ContextTokens  *int           `json:"context_tokens"`
	UncachedTokens *int           `json:"estimated_uncached_tokens"`
	TraceID        string         `json:"trace_id"`
	SpanID         string         `json:"span_id"`
	Burst          bool           `json:"extra"`
	Level          float64        `json:"concurrency"`
	Repetition     int            `json:"repetition"`
	Phase          string         `json:"phase"`
	Version        int            `json:"v"`
	// File and Line are the place of the turn; lines count from 1.
	File string `json:"-"`
	Line int    `json:"-"`
}

// Read returns the turns of plain or compressed files, ordered by time.
func Read(paths ...string) (all []Turn, err error) {
	for t, err := range All(paths...) {
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Turn) int { return a.At.Compare(b.At) })
	return all, nil
}

// All yields the turns of plain or compressed files in the order of their lines. The last element may be an error,
// which names the file and the line.
func All(paths ...string) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for _, path := range paths {
			if more, err := readFile(path, yield); err != nil {
				yield(Turn{}, err)
				return
			} else if !more {
				return
			}
		}
	}
}

// readFile yields the turns of one file. more is false if yield wants no more.
func readFile(path string, yield func(Turn, error) bool) (more bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	plain, closePlain, err := trace.Decompress(file)
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	defer closePlain()
	lines := bufio.NewScanner(plain)
	t := Turn{File: path}
	for lines.Scan() {
		t = Turn{File: path, Line: t.Line + 1}
		if err := t.parse(lines.Bytes()); err != nil {
			return false, fmt.Errorf("%s:%d: %w; docs/reference/turn-log.md describes the keys", path, t.Line, err)
		}
		if !yield(t, nil) {
			return false, nil
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("%s, after line %d: %w", path, t.Line, err)
	}
	return true, nil
}

// parse reads a line.
func (t *Turn) parse(line []byte) error {
	err := json.Unmarshal(line, t)
	switch {
	case err != nil:
		return fmt.Errorf("%.60q is no JSON object of a turn: %w", line, err)
	case t.Version != 1:
		return fmt.Errorf("the key v is %d, and only version 1 can be read", t.Version)
	case t.At.IsZero() || t.Target == "" || t.Workload == "":
		return fmt.Errorf("%.60q lacks at, target or workload", line)
	case !slices.Contains(probe.TurnKinds(), t.Kind):
		return fmt.Errorf("turn is %q: write one of %q", t.Kind, probe.TurnKinds())
	case !slices.Contains(probe.Outcomes(), t.Outcome):
		return fmt.Errorf("outcome is %q: write one of %q", t.Outcome, probe.Outcomes())
	}
	return nil
}

// Result returns the turn as the prober reported it, as far as the log has it. If the duration is unknown, it is that
// of the TTFT.
func (t *Turn) Result() probe.Result {
	r := probe.Result{
		Target: t.Target, Workload: t.Workload, Kind: t.Kind, Outcome: t.Outcome, Proof: t.Proof, Sent: t.At,
		TTFT: seconds(t.TTFT), TPOT: seconds(t.TPOT),
		Asked:  probe.Asked{Turn: 1 + t.Kind.Index(), TraceID: t.TraceID, SpanID: t.SpanID, Scheduled: t.At, Burst: t.Burst},
		Timing: probe.Timing{AnswerTTFT: seconds(t.TTFT)},
		Tokens: probe.Tokens{PromptTokens: known(t.PromptTokens), CachedTokens: known(t.CachedTokens), OutputTokens: known(t.OutputTokens), ContextTokens: known(t.ContextTokens), UncachedEstimate: known(t.UncachedTokens)},
	}
	r.End = t.At.Add(max(r.TTFT.V, seconds(t.Duration).V))
	return r
}

func seconds(v *float64) probe.Opt[time.Duration] {
	if v == nil {
		return probe.Opt[time.Duration]{}
	}
	return probe.Some(time.Duration(*v * float64(time.Second)))
}

func known(v *int) probe.Opt[int] {
	if v == nil {
		return probe.Opt[int]{}
	}
	return probe.Some(*v)
}

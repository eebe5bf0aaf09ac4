// Package turnlog is the log of turns: what "synthetic run" writes of each turn,
// and what a replay reads. A log is JSON Lines, one object for each turn, in
// order of when the turns were sent; docs/reference/turn-log.md has the keys.
package turnlog

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"synthetic/internal/probe"
)

// Version is that of the format. It is in every line, so that logs can be cut
// and joined; a line without it is of the first one.
const Version = 1

// Slack is how much earlier than a line before it a line may be: whoever reads
// puts them in order.
const Slack = 10 * time.Minute

// Turn is one finished turn.
type Turn struct {
	// At is when it was sent, in UTC.
	At               time.Time
	Target, Workload string
	Kind             probe.TurnKind
	Outcome          probe.Outcome
	// What is not known is undefined.
	TTFT, TPOT, Duration                     probe.Opt[time.Duration]
	PromptTokens, CachedTokens, OutputTokens probe.Opt[int]
	TraceID                                  string
	// Extra says that it was of a burst.
	Burst bool
	// Study is the place of a turn of a study; nil outside of one.
	Study *Study
}

// Study is the place of a turn in a study.
type Study struct {
	// Level is conversations in flight, or with Rate starts per second; Repetition
	// counts from 1.
	Level      float64
	Rate       bool
	Repetition int
	Phase      Phase
	// Conversation is its ID, Index the place of the turn in it, from 1.
	Conversation string
	Index        int
	// AnswerTTFT is until the first content, which after reasoning comes later.
	AnswerTTFT probe.Opt[time.Duration]
}

// Phase of a level in which a turn ended.
type Phase string

// The phases: before the measurement, in it, and cut or left by its end.
const (
	WarmUp   Phase = "warm_up"
	Measured Phase = "measured"
	Tail     Phase = "tail"
)

// Of is what the log says of a turn: no text, no error, no address.
func FromResult(r probe.Result) Turn {
	return Turn{
		At: r.Sent.UTC(), Target: r.Target, Workload: r.Workload, Kind: r.Kind, Outcome: r.Outcome,
		TTFT: r.TTFT, TPOT: r.TPOT, Duration: probe.Some(r.Duration()),
		PromptTokens: r.PromptTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens,
		TraceID: r.TraceID, Burst: r.Burst,
	}
}

// Key names the job.
func (t *Turn) Key() probe.Key { return probe.Key{Target: t.Target, Workload: t.Workload} }

// Length is from the sending to the end. Where that was not written it is that of
// the tokens.
func (t *Turn) Length() time.Duration {
	if t.Duration.OK {
		return t.Duration.V
	}
	return t.TTFT.V + time.Duration(max(0, t.OutputTokens.V-1))*t.TPOT.V
}

// Result is the turn as its prober reported it, as far as the log knows it.
func (t *Turn) Result() probe.Result {
	r := probe.Result{
		Target: t.Target, Workload: t.Workload, Kind: t.Kind, Turn: 1 + t.Kind.Index(), TraceID: t.TraceID,
		Scheduled: t.At, Sent: t.At, End: t.At.Add(t.Length()), Outcome: t.Outcome,
		TTFT: t.TTFT, AnswerTTFT: t.TTFT, TPOT: t.TPOT,
		PromptTokens: t.PromptTokens, CachedTokens: t.CachedTokens, OutputTokens: t.OutputTokens,
		Events: t.OutputTokens.V, Burst: t.Burst,
	}
	if t.Study != nil {
		r.Conversation, r.Turn, r.AnswerTTFT = t.Study.Conversation, t.Study.Index, t.Study.AnswerTTFT
	}
	return r
}

// Append appends the turn as a line.
func (t *Turn) Append(b []byte) []byte {
	b = append(b, `{"at":"`...)
	b = t.At.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	b = text(b, "target", t.Target)
	b = text(b, "workload", t.Workload)
	b = text(b, "turn", string(t.Kind))
	b = text(b, "outcome", string(t.Outcome))
	b = seconds(b, "ttft_seconds", t.TTFT)
	b = seconds(b, "tpot_seconds", t.TPOT)
	b = seconds(b, "duration_seconds", t.Duration)
	b = count(b, "prompt_tokens", t.PromptTokens)
	b = count(b, "cached_prompt_tokens", t.CachedTokens)
	b = count(b, "output_tokens", t.OutputTokens)
	if t.TraceID != "" {
		b = text(b, "trace_id", t.TraceID)
	}
	if t.Burst {
		b = append(name(b, "extra"), "true"...)
	}
	if t.Study != nil {
		b = t.Study.append(b)
	}
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, Version, 10)
	return append(b, "}\n"...)
}

func (s *Study) append(b []byte) []byte {
	level := "concurrency"
	if s.Rate {
		level = "rate"
	}
	b = strconv.AppendFloat(name(b, level), s.Level, 'f', -1, 64)
	b = count(b, "repetition", probe.Some(s.Repetition))
	b = text(b, "phase", string(s.Phase))
	b = text(b, "conversation", s.Conversation)
	b = count(b, "index", probe.Some(s.Index))
	return seconds(b, "answer_ttft_seconds", s.AnswerTTFT)
}

func name(b []byte, key string) []byte {
	b = append(append(b, `,"`...), key...)
	return append(b, `":`...)
}

// text appends a string; strconv's quoting is JSON's for what names can hold.
func text(b []byte, key, v string) []byte { return quote(name(b, key), v) }

// seconds appends a time to the microsecond.
func seconds(b []byte, key string, v probe.Opt[time.Duration]) []byte {
	if !v.OK || v.V < 0 { // a clock that was set back gives none
		return b
	}
	micros := math.Round(float64(v.V) / 1e3)
	return strconv.AppendFloat(name(b, key), micros/1e6, 'f', -1, 64)
}

func count(b []byte, key string, v probe.Opt[int]) []byte {
	if !v.OK || v.V < 0 { // what a server says of itself may be anything
		return b
	}
	return strconv.AppendInt(name(b, key), int64(v.V), 10)
}

// quote appends a string as JSON.
func quote(b []byte, v string) []byte {
	plain := true
	for i := range len(v) {
		plain = plain && v[i] >= ' ' && v[i] < utf8.RuneSelf && v[i] != '"' && v[i] != '\\'
	}
	if plain {
		return append(append(append(b, '"'), v...), '"')
	}
	quoted, _ := json.Marshal(v) // a string has a form
	return append(b, quoted...)
}

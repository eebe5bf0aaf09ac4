// Package turnlog writes logs of turns. A log has one JSON object per line for each turn, ordered by time;
// docs/reference/turn-log.md describes the keys.
package turnlog

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/probe"
)

// version is the format version. Every line has it, so that logs can be cut and joined.
const version = 1

// Turn is one finished turn.
type Turn struct {
	// At is when the turn was sent.
	At               time.Time
	Target, Workload string
	Kind             probe.TurnKind
	Outcome          probe.Outcome
	// Proof is how it is known whose fault a failure is.
	Proof probe.Proof
	// Unknown values have OK = false.
	TTFT, TPOT, Duration                     probe.Opt[time.Duration]
	PromptTokens, CachedTokens, OutputTokens probe.Opt[int]
	// ContextTokens are those of the turns before in the conversation.
	ContextTokens probe.Opt[int]
	// UncachedEstimate is the prober's estimate for a turn without PromptTokens.
	UncachedEstimate probe.Opt[int]
	// Gateway has no addresses and no Response.
	Gateway probe.Gateway
	TraceID string
	// SpanID identifies the turn within the trace.
	SpanID string
	// Moved is true if another worker answered than in the previous turn of the conversation.
	Moved  probe.Opt[bool]
	Burst  bool
	Recall probe.Recall
	// Study is set for turns of a sweep.
	Study *Study
}

// Study is the position of a turn in a sweep.
type Study struct {
	// Level is the conversations in flight or, if Rate is true, the starts per second.
	// Repetition counts from 1.
	Level      float64
	Rate       bool
	Repetition int
	Phase      Phase
	// Conversation is the conversation's ID. Index is the number of the turn in it, from 1.
	Conversation string
	Index        int
	// AnswerTTFT is the time to the first content after any reasoning.
	AnswerTTFT probe.Opt[time.Duration]
}

// Phase is the part of a level in which a turn ended.
type Phase string

// Tail turns ended after the measurement or were cut at its end.
const (
	WarmUp   Phase = "warm_up"
	Measured Phase = "measured"
	Tail     Phase = "tail"
)

// FromResult returns the logged part of a result: no texts, errors or addresses.
func FromResult(r *probe.Result) Turn {
	return Turn{
		At: r.Sent, Target: r.Target, Workload: r.Workload, Kind: r.Kind, Outcome: r.Outcome, Proof: r.Proof,
		TTFT: r.TTFT, TPOT: r.TPOT, Duration: probe.Some(r.Duration()),
		PromptTokens: r.PromptTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens, ContextTokens: r.ContextTokens, UncachedEstimate: r.UncachedEstimate,
		Gateway: probe.Gateway{Retries: r.Gateway.Retries, Fallbacks: r.Gateway.Fallbacks, Overhead: r.Gateway.Overhead},
		TraceID: r.TraceID, SpanID: r.SpanID, Moved: r.Moved, Burst: r.Burst, Recall: r.Recall,
	}
}

// Append appends the turn as a line of JSON.
func (t *Turn) Append(b []byte) []byte {
	b = append(b, `{"at":"`...)
	b = t.At.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	b = appendText(b, "target", t.Target)
	b = appendText(b, "workload", t.Workload)
	b = appendText(b, "turn", string(t.Kind))
	b = appendText(b, "outcome", string(t.Outcome))
	if t.Proof != "" {
		b = appendText(b, "proof", string(t.Proof))
	}
	b = appendSeconds(b, "ttft_seconds", t.TTFT)
	b = appendSeconds(b, "tpot_seconds", t.TPOT)
	b = appendSeconds(b, "duration_seconds", t.Duration)
	b = appendCount(b, "prompt_tokens", t.PromptTokens)
	b = appendCount(b, "cached_prompt_tokens", t.CachedTokens)
	b = appendCount(b, "output_tokens", t.OutputTokens)
	b = appendCount(b, "context_tokens", t.ContextTokens)
	b = appendCount(b, "estimated_uncached_tokens", t.UncachedEstimate)
	b = appendCount(b, "gateway_retries", t.Gateway.Retries)
	b = appendCount(b, "gateway_fallbacks", t.Gateway.Fallbacks)
	b = appendSeconds(b, "gateway_overhead_seconds", t.Gateway.Overhead)
	if t.TraceID != "" {
		b = appendText(b, "trace_id", t.TraceID)
	}
	if t.SpanID != "" {
		b = appendText(b, "span_id", t.SpanID)
	}
	if t.Moved.OK {
		b = appendText(b, "session", probe.SessionLabel(t.Moved))
	}
	if t.Recall.Result != "" {
		b = appendText(b, "recall", string(t.Recall.Result))
		b = appendText(b, "recall_cached", t.Recall.CachedState())
		b = appendCount(b, "recall_depth", t.Recall.Depth)
	}
	if t.Burst {
		b = append(appendKey(b, "extra"), "true"...)
	}
	if t.Study != nil {
		b = t.Study.append(b)
	}
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, version, 10)
	return append(b, "}\n"...)
}

func (s *Study) append(b []byte) []byte {
	level := "concurrency"
	if s.Rate {
		level = "rate"
	}
	b = strconv.AppendFloat(appendKey(b, level), s.Level, 'f', -1, 64)
	b = appendCount(b, "repetition", probe.Some(s.Repetition))
	b = appendText(b, "phase", string(s.Phase))
	b = appendText(b, "conversation", s.Conversation)
	b = appendCount(b, "index", probe.Some(s.Index))
	return appendSeconds(b, "answer_ttft_seconds", s.AnswerTTFT)
}

func appendKey(b []byte, key string) []byte {
	b = append(append(b, `,"`...), key...)
	return append(b, `":`...)
}

func appendText(b []byte, key, v string) []byte { return appendQuoted(appendKey(b, key), v) }

// appendSeconds rounds to microseconds.
func appendSeconds(b []byte, key string, v probe.Opt[time.Duration]) []byte {
	if !v.OK || v.V < 0 { // negative after the clock was set back
		return b
	}
	micros := math.Round(float64(v.V) / 1e3)
	return strconv.AppendFloat(appendKey(b, key), micros/1e6, 'f', -1, 64)
}

func appendCount(b []byte, key string, v probe.Opt[int]) []byte {
	if !v.OK || v.V < 0 { // a server may report negative numbers
		return b
	}
	return strconv.AppendInt(appendKey(b, key), int64(v.V), 10)
}

// appendQuoted appends a JSON string.
func appendQuoted(b []byte, v string) []byte {
	plain := true
	for i := range len(v) {
		plain = plain && v[i] >= ' ' && v[i] < utf8.RuneSelf && v[i] != '"' && v[i] != '\\'
	}
	if plain {
		return append(append(append(b, '"'), v...), '"')
	}
	quoted, _ := json.Marshal(v) // a string can always be encoded
	return append(b, quoted...)
}

// Compress returns a fast compressor that needs little memory. Everything before a flush can be
// decompressed even if the rest of the file is lost.
func Compress(to io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(to,
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
}

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

// Study is the position of a turn in a sweep.
type Study struct {
	// Level is the conversations in flight or, if Rate is true, the starts per second.
	// Repetition counts from 1.
	Level      float64
	Rate       bool
	Repetition int
	Phase      Phase
}

// Phase is the part of a level in which a turn ended.
type Phase string

// Tail turns ended after the measurement or were cut at its end.
const (
	WarmUp   Phase = "warm_up"
	Measured Phase = "measured"
	Tail     Phase = "tail"
)

// Append appends a finished turn as a line of JSON, without texts, errors or addresses. study is nil outside of a sweep.
func Append(b []byte, r *probe.Result, study *Study) []byte {
	b = append(b, `{"at":"`...)
	b = r.Sent.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	b = appendText(b, "target", r.Target)
	b = appendText(b, "workload", r.Workload)
	b = appendText(b, "turn", string(r.Kind))
	b = appendText(b, "outcome", string(r.Outcome))
	b = appendKnown(b, "proof", string(r.Proof))
	b = appendSeconds(b, "ttft_seconds", r.TTFT)
	b = appendSeconds(b, "tpot_seconds", r.TPOT)
	b = appendSeconds(b, "duration_seconds", probe.Some(r.Duration()))
	b = appendCount(b, "prompt_tokens", r.PromptTokens)
	b = appendCount(b, "cached_prompt_tokens", r.CachedTokens)
	b = appendCount(b, "output_tokens", r.OutputTokens)
	b = appendCount(b, "context_tokens", r.ContextTokens)
	b = appendCount(b, "estimated_uncached_tokens", r.UncachedEstimate)
	b = appendCount(b, "gateway_retries", r.Gateway.Retries)
	b = appendCount(b, "gateway_fallbacks", r.Gateway.Fallbacks)
	b = appendSeconds(b, "gateway_overhead_seconds", r.Gateway.Overhead)
	b = appendKnown(b, "trace_id", r.TraceID)
	b = appendKnown(b, "span_id", r.SpanID)
	b = appendKnown(b, "session", probe.SessionLabel(r.Moved))
	if r.Recall.Result != "" {
		b = appendText(b, "recall", string(r.Recall.Result))
		b = appendText(b, "recall_cached", r.Recall.CachedState())
		b = appendCount(b, "recall_depth", r.Recall.Depth)
	}
	if r.Burst {
		b = append(appendKey(b, "extra"), "true"...)
	}
	if study != nil {
		b = study.append(b, r)
	}
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, version, 10)
	return append(b, "}\n"...)
}

func (s *Study) append(b []byte, r *probe.Result) []byte {
	level := "concurrency"
	if s.Rate {
		level = "rate"
	}
	b = strconv.AppendFloat(appendKey(b, level), s.Level, 'f', -1, 64)
	b = appendCount(b, "repetition", probe.Some(s.Repetition))
	b = appendText(b, "phase", string(s.Phase))
	b = appendText(b, "conversation", r.Conversation)
	b = appendCount(b, "index", probe.Some(r.Turn))
	return appendSeconds(b, "answer_ttft_seconds", r.AnswerTTFT)
}

func appendKey(b []byte, key string) []byte {
	b = append(append(b, `,"`...), key...)
	return append(b, `":`...)
}

func appendText(b []byte, key, v string) []byte { return appendQuoted(appendKey(b, key), v) }

// appendKnown leaves out an empty text.
func appendKnown(b []byte, key, v string) []byte {
	if v == "" {
		return b
	}
	return appendText(b, key, v)
}

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

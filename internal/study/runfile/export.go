package runfile

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/turnlog"
)

// ExportFormats returns the formats of WriteExport: CSV with a row per turn, AIPerf's
// profile_export.jsonl, and GuideLLM's benchmarks.json.
func ExportFormats() []string { return []string{"csv", "aiperf", "guidellm"} }

// WriteExport writes all turns.
func WriteExport(to io.Writer, format string, next turnlog.Next) error {
	b := bufio.NewWriter(to)
	var err error
	switch format {
	case "csv":
		err = writeCSV(b, next)
	case "aiperf":
		err = writeAIPerf(b, next)
	case "guidellm":
		err = writeGuideLLM(b, next)
	default:
		return fmt.Errorf("unknown format %q: use one of %q", format, ExportFormats())
	}
	return errors.Join(err, b.Flush())
}

// eachTurn calls do for every turn, with a zero Study for turns outside a study.
func eachTurn(next turnlog.Next, do func(t *turnlog.Turn, s turnlog.Study) error) error {
	return next.Each(func(t *turnlog.Turn) error {
		var s turnlog.Study
		if t.Study != nil {
			s = *t.Study
		}
		return do(t, s)
	})
}

func writeCSV(to io.Writer, next turnlog.Next) error {
	w := csv.NewWriter(to)
	if err := w.Write([]string{
		"at", "target", "workload", "level", "repetition", "phase", "conversation", "index", "turn", "outcome", "ttft_seconds",
		"answer_ttft_seconds", "tpot_seconds", "duration_seconds", "prompt_tokens", "cached_prompt_tokens", "output_tokens", "trace_id", "span_id", "session",
		"recall", "recall_cached", "recall_depth",
	}); err != nil {
		return err
	}
	err := eachTurn(next, func(t *turnlog.Turn, s turnlog.Study) error {
		return w.Write([]string{
			t.At.Format(time.RFC3339Nano), t.Target, t.Workload, formatNonZero(s.Level), formatNonZero(float64(s.Repetition)), string(s.Phase), s.Conversation,
			formatNonZero(float64(s.Index)), string(t.Kind), string(t.Outcome), formatSeconds(t.TTFT), formatSeconds(s.AnswerTTFT), formatSeconds(t.TPOT),
			formatSeconds(t.Duration), formatInt(t.PromptTokens), formatInt(t.CachedTokens), formatInt(t.OutputTokens), t.TraceID, t.SpanID, probe.SessionLabel(t.Moved),
			string(t.Recall.Result), recallCached(t.Recall), formatInt(t.Recall.Depth),
		})
	})
	w.Flush()
	return errors.Join(err, w.Error())
}

// recallCached returns "" for a turn that was not judged by reference codes.
func recallCached(r probe.Recall) string {
	if r.Result == "" {
		return ""
	}
	return r.CachedState()
}

// formatNonZero returns "" for 0, which is no valid level, repetition or index.
func formatNonZero(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func formatSeconds(v probe.Opt[time.Duration]) string {
	if !v.OK {
		return ""
	}
	return strconv.FormatFloat(v.V.Seconds(), 'f', -1, 64)
}

func formatInt(v probe.Opt[int]) string {
	if !v.OK {
		return ""
	}
	return strconv.Itoa(v.V)
}

type aiperfValue struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// aiperfRecord is a line of AIPerf's profile_export.jsonl. AIPerf's tools ignore unknown keys,
// such as variant, level and repetition.
type aiperfRecord struct {
	Metadata aiperfMetadata         `json:"metadata"`
	Metrics  map[string]aiperfValue `json:"metrics"`
	Error    *aiperfError           `json:"error"`
}

type aiperfMetadata struct {
	Session      int     `json:"session_num"`
	RequestID    string  `json:"x_request_id"`
	Correlation  string  `json:"x_correlation_id"`
	Conversation string  `json:"conversation_id"`
	Turn         int     `json:"turn_index"`
	Start        int64   `json:"request_start_ns"`
	Ack          *int64  `json:"request_ack_ns"`
	End          int64   `json:"request_end_ns"`
	Worker       string  `json:"worker_id"`
	Processor    string  `json:"record_processor_id"`
	Phase        string  `json:"benchmark_phase"`
	Canceled     bool    `json:"was_cancelled"`
	CanceledAt   *int64  `json:"cancellation_time_ns"`
	Variant      string  `json:"variant"`
	Level        float64 `json:"level,omitempty"`
	Repetition   int     `json:"repetition,omitempty"`
}

type aiperfError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func writeAIPerf(to io.Writer, next turnlog.Next) error {
	enc := json.NewEncoder(to)
	sessions, count := map[string]int{}, 0
	return eachTurn(next, func(t *turnlog.Turn, s turnlog.Study) error {
		// Every level has the same conversations.
		key := fmt.Sprint(t.Target, s.Level, s.Repetition, s.Conversation)
		session, known := sessions[key]
		if !known || s.Conversation == "" {
			session, count = count, count+1
			sessions[key] = session
		}
		return enc.Encode(newAIPerfRecord(t, s, session))
	})
}

func newAIPerfRecord(t *turnlog.Turn, s turnlog.Study, session int) aiperfRecord {
	end := t.At.Add(t.TotalDuration()).UnixNano()
	r := aiperfRecord{
		Metadata: aiperfMetadata{
			Session: session, RequestID: cmp.Or(t.SpanID, t.TraceID), Correlation: s.Conversation, Conversation: s.Conversation, Turn: max(s.Index-1, 0),
			Start: t.At.UnixNano(), End: end, Worker: "synthetic", Processor: "synthetic", Phase: "profiling",
			Variant: t.Target, Level: s.Level, Repetition: s.Repetition,
		},
		Metrics: map[string]aiperfValue{},
	}
	if s.Phase == turnlog.WarmUp {
		r.Metadata.Phase = "warmup"
	}
	if t.Outcome.Canceled() {
		r.Metadata.Canceled, r.Metadata.CanceledAt = true, &end
	}
	if t.Outcome != probe.Success {
		r.Error = &aiperfError{string(t.Outcome), "the turn ended as " + string(t.Outcome)}
	}
	put := func(name, unit string, v float64, known bool) {
		if known {
			r.Metrics[name] = aiperfValue{v, unit}
		}
	}
	put("input_sequence_length", "tokens", float64(t.PromptTokens.V), t.PromptTokens.OK)
	put("time_to_first_token", "ms", millis(t.TTFT.V), t.TTFT.OK)
	if t.Outcome != probe.Success {
		return r
	}
	put("output_sequence_length", "tokens", float64(t.OutputTokens.V), t.OutputTokens.OK)
	put("request_latency", "ms", millis(t.TotalDuration()), true)
	put("inter_token_latency", "ms", millis(t.TPOT.V), t.TPOT.OK)
	put("output_token_throughput_per_user", "tokens/sec/user", 1000/millis(t.TPOT.V), t.TPOT.OK && t.TPOT.V > 0)
	return r
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

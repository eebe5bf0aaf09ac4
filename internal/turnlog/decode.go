package turnlog

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

const (
	// maxSeconds and maxTokens are the largest values that a log may have.
	maxSeconds, maxTokens = 1e6, 1e9
	// maxNames is how many different names of targets and workloads a log may have.
	maxNames = 10_000
)

// decoder decodes lines. Equal names share memory.
type decoder struct {
	names    map[string]string
	kinds    map[string]probe.TurnKind
	outcomes map[string]probe.Outcome
	// turn and study are those of the current line.
	turn  Turn
	study Study
}

func newDecoder() *decoder {
	d := &decoder{names: map[string]string{}, kinds: map[string]probe.TurnKind{}, outcomes: map[string]probe.Outcome{}}
	for _, k := range probe.TurnKinds() {
		d.kinds[string(k)] = k
	}
	for _, o := range probe.Outcomes() {
		d.outcomes[string(o)] = o
	}
	return d
}

// decode decodes a line. The turn is valid until the next call.
func (d *decoder) decode(line []byte) (*Turn, error) {
	d.turn, d.study = Turn{}, Study{}
	if err := scan(line, d.field); err != nil {
		return nil, err
	}
	if missing := d.missingKey(); missing != "" {
		return nil, fmt.Errorf(`%q is missing; every turn needs ["at" "target" "workload" "turn" "outcome"]`, missing)
	}
	if d.study.Level > 0 {
		study := d.study
		d.turn.Study = &study
	}
	return &d.turn, nil
}

func (d *decoder) missingKey() string {
	switch {
	case d.turn.At.IsZero():
		return "at"
	case d.turn.Target == "":
		return "target"
	case d.turn.Workload == "":
		return "workload"
	case d.turn.Kind == "":
		return "turn"
	case d.turn.Outcome == "":
		return "outcome"
	}
	return ""
}

// field handles one key. It ignores unknown keys and null values.
func (d *decoder) field(key []byte, k kind, v []byte) error {
	if k == nullKind {
		return nil
	}
	t := &d.turn
	switch string(key) {
	case "at":
		return d.time(k, v)
	case "target":
		return d.name(&t.Target, "target", k, v)
	case "workload":
		return d.name(&t.Workload, "workload", k, v)
	case "turn":
		if t.Kind = d.kinds[string(v)]; k != textKind || t.Kind == "" {
			return fmt.Errorf("turn is %s; write one of %q", quoteShort(v), probe.TurnKinds())
		}
	case "outcome":
		if t.Outcome = d.outcomes[string(v)]; k != textKind || t.Outcome == "" {
			return fmt.Errorf("outcome is %s; write one of %q", quoteShort(v), probe.Outcomes())
		}
	case "proof":
		for _, p := range probe.Proofs() {
			if string(v) == string(p) {
				t.Proof = p
			}
		}
	case "ttft_seconds":
		return parseDuration(&t.TTFT, "ttft_seconds", k, v)
	case "tpot_seconds":
		return parseDuration(&t.TPOT, "tpot_seconds", k, v)
	case "duration_seconds":
		return parseDuration(&t.Duration, "duration_seconds", k, v)
	case "prompt_tokens":
		return parseCount(&t.PromptTokens, "prompt_tokens", k, v)
	case "cached_prompt_tokens":
		return parseCount(&t.CachedTokens, "cached_prompt_tokens", k, v)
	case "output_tokens":
		return parseCount(&t.OutputTokens, "output_tokens", k, v)
	case "context_tokens":
		return parseCount(&t.ContextTokens, "context_tokens", k, v)
	case "estimated_uncached_tokens":
		return parseCount(&t.UncachedEstimate, "estimated_uncached_tokens", k, v)
	case "gateway_retries":
		return parseCount(&t.Gateway.Retries, "gateway_retries", k, v)
	case "gateway_fallbacks":
		return parseCount(&t.Gateway.Fallbacks, "gateway_fallbacks", k, v)
	case "gateway_overhead_seconds":
		return parseDuration(&t.Gateway.Overhead, "gateway_overhead_seconds", k, v)
	case "trace_id":
		if k == textKind {
			t.TraceID = string(v)
		}
	case "span_id":
		if k == textKind {
			t.SpanID = string(v)
		}
	case "session":
		t.Moved = probe.Opt[bool]{V: string(v) == probe.SessionLost, OK: string(v) == probe.SessionLost || string(v) == probe.SessionKept}
	case "recall":
		for _, r := range recall.Results() {
			if string(v) == string(r) {
				t.Recall.Result = r
			}
		}
	case "recall_cached":
		t.Recall.Cached = probe.Opt[bool]{V: string(v) == "yes", OK: string(v) == "yes" || string(v) == "no"}
	case "recall_depth":
		return parseCount(&t.Recall.Depth, "recall_depth", k, v)
	case "extra":
		t.Burst = string(v) == "true"
	case "concurrency", "rate", "repetition", "phase", "conversation", "index", "answer_ttft_seconds":
		d.studyField(string(key), k, v)
	case "v":
		if written, _ := strconv.ParseFloat(string(v), 64); k == numberKind && written > version {
			return fmt.Errorf("it has format version %s, and this program reads version %d: use the release that wrote it, or a later one", v, version)
		}
	}
	return nil
}

// studyField handles a key of a sweep's turns. Logs from other programs may use these keys for
// something else, so invalid values are ignored.
func (d *decoder) studyField(key string, k kind, v []byte) {
	s, n := &d.study, 0.0
	if k == numberKind {
		n, _ = strconv.ParseFloat(string(v), 64)
	}
	whole := int(min(max(n, 0), maxTokens))
	switch key {
	case "concurrency", "rate":
		s.Level, s.Rate = min(n, maxTokens), key == "rate"
	case "repetition":
		s.Repetition = whole
	case "index":
		s.Index = whole
	case "phase":
		for _, p := range []Phase{WarmUp, Measured, Tail} {
			if string(v) == string(p) {
				s.Phase = p
			}
		}
	case "conversation":
		s.Conversation = string(v)
	case "answer_ttft_seconds":
		_ = parseDuration(&s.AnswerTTFT, key, k, v)
	}
}

func (d *decoder) time(k kind, v []byte) error {
	const example = `"2026-01-05T08:00:00.25Z"`
	if k != textKind {
		return fmt.Errorf("at is %s; write the time the turn was sent, such as %s", v, example)
	}
	at, err := time.Parse(time.RFC3339Nano, string(v))
	if err != nil {
		return fmt.Errorf("at is %q; write the time the turn was sent in RFC 3339, such as %s", v, example)
	}
	if year := at.Year(); year < 1971 || year > 2261 { // the range of a 64-bit number of nanoseconds
		return fmt.Errorf("at is %q, outside the years 1971 to 2261; write the time in RFC 3339", v)
	}
	d.turn.At = at.UTC()
	return nil
}

func (d *decoder) name(into *string, key string, k kind, v []byte) error {
	if k != textKind || len(v) == 0 {
		return fmt.Errorf("%s is %s; write its name as a string", key, quoteShort(v))
	}
	known, ok := d.names[string(v)]
	if !ok {
		if len(d.names) == maxNames {
			return fmt.Errorf("%s %q is one name too many: a log may have %d; split it by target", key, v, maxNames)
		}
		known = string(v)
		d.names[known] = known
	}
	*into = known
	return nil
}

func quoteShort(v []byte) string {
	const maxBytes = 40
	if len(v) > maxBytes {
		v = slices.Concat(v[:maxBytes], []byte("…"))
	}
	return strconv.Quote(string(v))
}

func parseNumber(k kind, v []byte, limit float64) (float64, bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	return f, k == numberKind && err == nil && f >= 0 && f <= limit
}

func parseDuration(into *probe.Opt[time.Duration], key string, k kind, v []byte) error {
	f, ok := parseNumber(k, v, maxSeconds)
	if !ok {
		return fmt.Errorf("%s is %s; write seconds from 0 to %.0f, or omit it if it is unknown", key, quoteShort(v), maxSeconds)
	}
	*into = probe.Some(time.Duration(math.Round(f * 1e9)))
	return nil
}

func parseCount(into *probe.Opt[int], key string, k kind, v []byte) error {
	f, ok := parseNumber(k, v, maxTokens)
	if !ok || f != math.Trunc(f) {
		return fmt.Errorf("%s is %s; write a whole number from 0 to %.0f, or omit it if it is unknown", key, quoteShort(v), maxTokens)
	}
	*into = probe.Some(int(f))
	return nil
}

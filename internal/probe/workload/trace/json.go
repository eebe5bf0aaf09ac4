package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/atomicfile"
)

const (
	// mooncakeBlock is the number of tokens of one block in hash_ids.
	mooncakeBlock = 512
	// maxTokens bounds the tokens of a prompt or answer.
	maxTokens = 2_000_000
)

// object is a record in any of the JSON formats.
type object struct {
	Timestamp json.RawMessage `json:"timestamp"` // a date, or a number whose unit depends on the format
	Delay     float64         `json:"delay"`     // milliseconds
	Input     *int            `json:"input_length"`
	Output    int             `json:"output_length"`
	HashIDs   []uint64        `json:"hash_ids"`
	Session   label           `json:"session_id"`
	TextInput string          `json:"text_input"`
	Text      string          `json:"text"`
	Mode      string          `json:"message_mode"`
	dialogue
}

// scaleTime converts n units to a duration. Negative and huge numbers are errors.
func scaleTime(key string, n float64, unit time.Duration) (time.Duration, error) {
	if d := n * float64(unit); d >= 0 && d < math.MaxInt64/2 {
		return time.Duration(d), nil
	}
	if n > 0 {
		return 0, fmt.Errorf("%s is %g, which is too large; write it in units of %s", key, n, unit)
	}
	return 0, fmt.Errorf("%s is %g; write a number of at least 0", key, n)
}

// label is a string or number that identifies something.
type label string

func (l *label) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(b, (*string)(l))
	case '{', '[', 't', 'f':
		return fmt.Errorf("%.20s is not a name; write a string or a number", b)
	}
	*l = label(b)
	return nil
}

// parse parses a JSON object. unit and number describe its position for errors.
func parse(b []byte, o Options, unit string, number int) (Record, error) {
	r, err := parseObject(b, o)
	if err != nil {
		err = fmt.Errorf("%s %d: %w", unit, number, err)
	}
	return r, err
}

func parseObject(b []byte, opts Options) (Record, error) {
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		return Record{}, fmt.Errorf("not a JSON object with a record: %w; write one per line, or an array of them", atomicfile.InJSONTerms("it", err))
	}
	switch {
	case o.Input != nil || o.TextInput != "" || o.Text != "" || o.Messages != nil && (o.hasTime() || o.Session != ""):
		return o.mooncake(opts)
	case o.Messages != nil || o.Conversations != nil:
		return o.dataset()
	}
	return Record{}, fmt.Errorf("%.60q is a record in an unknown format; docs/how-to/traces.md lists the supported ones", bytes.TrimSpace(b))
}

func (o *object) hasTime() bool { return len(o.Timestamp) > 0 && string(o.Timestamp) != "null" }

// setTime sets the time of the record from a timestamp in units.
func (r *Record) setTime(o *object, unit time.Duration) (err error) {
	if r.timed = o.hasTime(); r.timed {
		r.At, err = parseTime("timestamp", strings.Trim(string(o.Timestamp), `"`), unit)
	}
	return err
}

// mooncake parses a line of Mooncake, including AIPerf's additions: texts, and sessions whose
// turns add to the history.
func (o *object) mooncake(opts Options) (Record, error) {
	turn, err := o.turn(opts)
	if turn.Prompt == 0 && len(turn.Messages) == 0 {
		err = errors.Join(err, errors.New("messages is empty; write one or more, or input_length"))
	}
	r := Record{Session: string(o.Session), Turns: []Turn{turn}, delta: o.Session != "" && (o.Messages == nil || o.Mode == "delta")}
	return r, errors.Join(err, r.setTime(o, time.Millisecond))
}

func (o *object) turn(opts Options) (Turn, error) {
	t := Turn{Output: o.Output, Blocks: o.HashIDs, BlockTokens: cmp.Or(opts.BlockTokens, mooncakeBlock), Messages: o.Messages}
	if o.Input != nil {
		t.Prompt = max(*o.Input, 1)
		if *o.Input < 0 || *o.Input > maxTokens {
			return t, tokensError("input_length", strconv.Itoa(*o.Input))
		}
	}
	if o.Output < 0 || o.Output > maxTokens {
		return t, tokensError("output_length", strconv.Itoa(o.Output))
	}
	if text := o.TextInput + o.Text; text != "" {
		t.Messages = append(t.Messages, Message{Role: "user", Content: Text(text)})
	}
	for i, m := range t.Messages {
		if strings.TrimSpace(m.Role) == "" {
			return t, fmt.Errorf("messages[%d] has no role; write user, assistant or system", i)
		}
	}
	var err error
	t.After, err = scaleTime("delay", o.Delay, time.Millisecond)
	return t, err
}

// parseTokens parses a number of tokens. It accepts fractions, because some exports write them.
func parseTokens(name, text string) (int, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0 && n <= maxTokens) {
		return 0, tokensError(name, text)
	}
	return int(n), nil
}

func tokensError(name, text string) error {
	return fmt.Errorf("%s is %.20q; write 0 to %d tokens", name, text, maxTokens)
}

// dataset parses a conversation of a data set. Each user message is a turn.
func (o *object) dataset() (Record, error) {
	system, user, err := o.texts()
	if err != nil {
		return Record{}, err
	}
	var r Record
	for _, text := range user {
		r.Turns = append(r.Turns, Turn{Messages: []Message{{Role: "user", Content: Text(text)}}})
	}
	if first := &r.Turns[0]; system != "" {
		first.Messages = []Message{{Role: "system", Content: Text(system)}, first.Messages[0]}
	}
	return r, r.setTime(o, time.Second)
}

// parseTime parses a number of units, or a date as the time since 1970 in UTC.
func parseTime(name, text string, unit time.Duration) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return scaleTime(name, n, unit)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Duration(at.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a time; write 2026-12-01 10:00:00.25, 2026-12-01T10:00:00Z or a number", text)
}

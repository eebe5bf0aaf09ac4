package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table reads CSV whose first line names the columns, in any order: Azure's,
// BurstGPT's, what ServeGen writes, or one's own.
type table struct {
	rows *csv.Reader
	meter
	// The places of columns, −1 for none.
	at, prompt, output, session int
}

// columns are the names of each, in lower case.
var columns = [4][]string{
	{"timestamp", "arrival_time"},
	{"contexttokens", "request tokens", "input_tokens", "input_length", "prompt_tokens"},
	{"generatedtokens", "response tokens", "output_tokens", "output_length", "completion_tokens"},
	{"session id", "session_id"},
}

func newTable(r io.Reader) (*table, error) {
	t := &table{meter: meter{from: r}}
	t.rows = csv.NewReader(&t.meter)
	t.rows.ReuseRecord = true
	head, err := t.rows.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: neither JSON nor the names of columns (%w); docs/how-to/traces.md has the forms that are read", err)
	}
	var at [4]int
	for i, names := range columns {
		at[i] = slices.IndexFunc(head, func(h string) bool {
			return slices.Contains(names, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))))
		})
	}
	t.at, t.prompt, t.output, t.session = at[0], at[1], at[2], at[3]
	for i, name := range []string{"time", "prompt's tokens", "answer's tokens"} {
		if at[i] < 0 {
			return nil, fmt.Errorf("line 1: %.80q has no column of the %s; name one %s", strings.Join(head, ","), name, strings.Join(columns[i], " or "))
		}
	}
	return t, nil
}

func (t *table) read() ([]Record, error) {
	t.taken = 0
	row, err := t.rows.Read()
	var wrong *csv.ParseError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("line %d: %w; write as many columns as the first line names", wrong.Line, wrong.Err)
	case errors.Is(err, io.EOF):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("after %d bytes: %w", t.rows.InputOffset(), err)
	}
	r, err := t.record(row)
	if err != nil {
		line, _ := t.rows.FieldPos(0)
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	return []Record{r}, nil
}

func (t *table) record(row []string) (r Record, err error) {
	var turn Turn
	if turn.Prompt, err = tokens("the prompt's tokens", row[t.prompt]); err != nil {
		return r, err
	}
	turn.Prompt = max(turn.Prompt, 1)
	if turn.Output, err = tokens("the answer's tokens", row[t.output]); err != nil {
		return r, err
	}
	if t.session >= 0 {
		r.Session = strings.Clone(row[t.session])
	}
	r.Turns, r.timed = []Turn{turn}, true
	text := strings.TrimSpace(row[t.at])
	if n, e := strconv.ParseFloat(text, 64); e == nil {
		r.At, err = scaled("the time", n, time.Second)
	} else {
		r.At, err = date(text)
	}
	return r, err
}

// tokens reads a number, which some exports write with a fraction.
func tokens(what, text string) (int, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0 && n <= mostTokens) {
		return 0, fmt.Errorf("%s are %.20q; write a number from 0 to %d", what, text, mostTokens)
	}
	return int(n), nil
}

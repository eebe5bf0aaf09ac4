package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table reads CSV. Its first line names the columns, in any order. It reads the files of Azure,
// BurstGPT and ServeGen, and others with the same columns.
type table struct {
	rows *csv.Reader
	recordLimit
	prompt, output int // the indexes of the columns
}

// columns are the accepted column names, in lower case.
var columns = [2][]string{
	{"contexttokens", "request tokens", "input_tokens", "input_length", "prompt_tokens"},
	{"generatedtokens", "response tokens", "output_tokens", "output_length", "completion_tokens"},
}

func newTable(r io.Reader) (*table, error) {
	t := &table{recordLimit: recordLimit{from: r}}
	t.rows = csv.NewReader(&t.recordLimit)
	t.rows.ReuseRecord = true
	head, err := t.rows.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: neither JSON nor a CSV header (%w); docs/how-to/traces.md lists the supported formats", err)
	}
	for i, h := range head {
		head[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")))
	}
	var at [2]int
	for i, names := range columns {
		at[i] = slices.IndexFunc(head, func(h string) bool { return slices.Contains(names, h) })
	}
	t.prompt, t.output = at[0], at[1]
	if t.prompt < 0 && t.output < 0 {
		return nil, fmt.Errorf("line 1: %.80q is neither JSON nor a CSV header with known columns; docs/how-to/traces.md lists the supported formats", strings.Join(head, ","))
	}
	for i, name := range []string{"prompt tokens", "output tokens"} {
		if at[i] < 0 {
			return nil, fmt.Errorf("line 1: %.80q has no column for the %s; name it %s", strings.Join(head, ","), name, strings.Join(columns[i], " or "))
		}
	}
	return t, nil
}

func (t *table) read() (Record, error) {
	t.readBytes = 0
	row, err := t.rows.Read()
	var parseError *csv.ParseError
	switch {
	case errors.As(err, &parseError):
		return Record{}, fmt.Errorf("line %d: %w; write as many columns as in the first line", parseError.Line, parseError.Err)
	case errors.Is(err, io.EOF):
		return Record{}, err
	case err != nil:
		return Record{}, fmt.Errorf("after %d bytes: %w", t.rows.InputOffset(), err)
	}
	r, err := t.record(row)
	if err != nil {
		line, _ := t.rows.FieldPos(0)
		return Record{}, fmt.Errorf("line %d: %w", line, err)
	}
	return r, nil
}

func (t *table) record(row []string) (r Record, err error) {
	var turn Turn
	if turn.Prompt, err = parseTokens("the number of prompt tokens", row[t.prompt]); err != nil {
		return r, err
	}
	if turn.Output, err = parseTokens("the number of output tokens", row[t.output]); err != nil {
		return r, err
	}
	if turn.Prompt == 0 || turn.Output == 0 {
		return r, noTokens
	}
	return Record{Turns: []Turn{turn}}, nil
}

package runfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Parse reads a run and refuses data that are empty, cut short, no run, or
// contradict themselves. Errors name the place and the remedy.
func Parse(data []byte) (*Run, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty: the sweep that wrote it did not get as far; resume it or sweep again")
	}
	var run Run
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&run); err != nil {
		return nil, explain(data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the end of the run; the file was written twice or edited", place(data, dec.InputOffset()))
	}
	if err := run.Validate(); err != nil {
		return nil, err
	}
	return &run, nil
}

// explain says where the JSON is broken, and whether it ends too soon.
func explain(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Offset >= int64(len(bytes.TrimRight(data, " \t\r\n"))):
		return fmt.Errorf("%s: the file ends in the middle of a value: it was written only in part; take the copy that the sweep finished, or sweep again", place(data, int64(len(data))))
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: not JSON: %w", place(data, syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: %q must be %s, not %s", place(data, kind.Offset), kind.Field, kind.Type, kind.Value)
	}
	return err
}

// place is "line L, column C" of an offset.
func place(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

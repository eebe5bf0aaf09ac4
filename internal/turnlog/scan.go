package turnlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"synthetic/internal/probe/stream/jsonscan"
)

// kind is the type of a JSON value.
type kind uint8

const (
	otherKind kind = iota // true, false, an object or an array
	textKind              // an unescaped string without quotes
	numberKind
	nullKind
)

// scan calls field for each key of a line, which must be one JSON object. It may overwrite
// line.
func scan(line []byte, field func(key []byte, k kind, value []byte) error) error {
	s := jsonscan.New(line)
	for key := range s.Root {
		k, v := readValue(&s)
		if s.Bad() {
			break
		}
		if err := field(key, k, v); err != nil {
			return err
		}
	}
	if !s.Valid() {
		return syntaxError(line)
	}
	return nil
}

func readValue(s *jsonscan.Scanner) (kind, []byte) {
	switch c := s.Peek(); {
	case c == '"':
		v := s.Text().Decode()
		if !utf8.Valid(v) {
			v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
		}
		return textKind, v
	case c == 'n':
		s.Skip()
		return nullKind, nil
	case c == '-' || c-'0' <= 9:
		return numberKind, s.Number()
	}
	from := len(s.Scanned())
	s.Skip()
	return otherKind, s.Scanned()[from:]
}

// syntaxError explains why a line is not one JSON object.
func syntaxError(line []byte) error {
	var fields map[string]json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&fields)
	_, isOther := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isOther || err == nil && fields == nil:
		err = errors.New("it has another type")
	case err == nil:
		err = errors.New("more follows the object")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is incomplete")
	}
	return fmt.Errorf("it is not one JSON object: %w; each line of a turn log is one", err)
}

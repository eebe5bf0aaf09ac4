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

// kind of a value that this package has a use for.
type kind uint8

const (
	other  kind = iota // true, false, objects and lists
	text_              // a string, without its quotes and escapes
	number             // as it is written
	null
)

// scan gives each key and value of a line, which is one object. It may write over
// the line.
func scan(line []byte, field func(key []byte, k kind, value []byte) error) error {
	s := jsonscan.New(line)
	for key := range s.Root {
		k, v := valueOf(&s)
		if s.Bad() {
			break
		}
		if err := field(key, k, v); err != nil {
			return err
		}
	}
	if !s.Whole() {
		return notAnObject(line)
	}
	return nil
}

func valueOf(s *jsonscan.Scanner) (kind, []byte) {
	switch c := s.Peek(); {
	case c == '"':
		v := s.Optional().Decode()
		if !utf8.Valid(v) {
			v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
		}
		return text_, v
	case c == 'n':
		s.Skip()
		return null, nil
	case c == '-' || c-'0' <= 9:
		return number, s.Number()
	}
	from := len(s.Before())
	s.Skip()
	return other, s.Before()[from:]
}

// notAnObject says what is wrong with a line.
func notAnObject(line []byte) error {
	var fields map[string]json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&fields)
	_, isOther := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isOther || err == nil && fields == nil:
		err = errors.New("it is something else")
	case err == nil:
		err = errors.New("more follows the object")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is cut off")
	}
	return fmt.Errorf("it is not one JSON object: %w; each line of a log of turns is one", err)
}

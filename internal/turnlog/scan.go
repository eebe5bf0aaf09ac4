package turnlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// kind of a value that this package has a use for.
type kind uint8

const (
	other  kind = iota // true, false, objects and lists
	text_              // a string, without its quotes and escapes
	number             // as it is written
	null
)

// scan gives each key and value of a line of the ordinary form: one object of
// plain strings and numbers. It reports false where only a whole reader of JSON
// can tell, and may have given some of them by then.
func scan(line []byte, field func(key []byte, k kind, value []byte) error) (bool, error) {
	s := cursor{line, 0}
	if !s.take('{') {
		return false, nil
	}
	for more := !s.take('}'); more; {
		key, ok := s.text()
		if !ok || !s.take(':') {
			return false, nil
		}
		k, value, ok := s.value()
		if !ok {
			return false, nil
		}
		if err := field(key, k, value); err != nil {
			return true, err
		}
		if more = s.take(','); !more && !s.take('}') {
			return false, nil
		}
	}
	s.space()
	return s.at == len(s.line), nil
}

// cursor is a place in a line.
type cursor struct {
	line []byte
	at   int
}

func (s *cursor) space() {
	for s.at < len(s.line) && (s.line[s.at] == ' ' || s.line[s.at] == '\t') {
		s.at++
	}
}

// take goes past a byte, and the space before it, if it is there.
func (s *cursor) take(c byte) bool {
	s.space()
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text reads a string of ASCII without escapes.
func (s *cursor) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i := s.at; i < len(s.line); i++ {
		switch c := s.line[i]; {
		case c == '"':
			v := s.line[s.at:i]
			s.at = i + 1
			return v, true
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return nil, false
		}
	}
	return nil, false
}

// value reads a string, a number or a word.
func (s *cursor) value() (kind, []byte, bool) {
	s.space()
	if s.at == len(s.line) {
		return other, nil, false
	}
	if s.line[s.at] == '"' {
		v, ok := s.text()
		return text_, v, ok
	}
	from := s.at
	for s.at < len(s.line) && s.line[s.at] != ',' && s.line[s.at] != '}' && s.line[s.at] > ' ' {
		s.at++
	}
	switch v := s.line[from:s.at]; {
	case isNumber(v):
		return number, v, true
	case string(v) == "null":
		return null, v, true
	default:
		return other, v, string(v) == "true" || string(v) == "false"
	}
}

// isNumber reports whether JSON takes it for one.
func isNumber(v []byte) bool {
	digits := func() (n int) {
		for n < len(v) && v[n] >= '0' && v[n] <= '9' {
			n++
		}
		v = v[n:]
		return n
	}
	after := func(set string) bool {
		if len(v) == 0 || strings.IndexByte(set, v[0]) < 0 {
			return false
		}
		v = v[1:]
		return true
	}
	after("-")
	zero := len(v) > 0 && v[0] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if after(".") && digits() == 0 {
		return false
	}
	if after("eE") {
		after("+-")
		if digits() == 0 {
			return false
		}
	}
	return len(v) == 0
}

// scanWhole is scan for any JSON.
func scanWhole(line []byte, field func(key []byte, k kind, value []byte) error) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return notAnObject(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return notAnObject(err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return notAnObject(err)
		}
		k, value := kindOf(raw)
		if err := field([]byte(key.(string)), k, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notAnObject(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return notAnObject(errors.New("more follows the object"))
	}
	return nil
}

func notAnObject(err error) error {
	if err == nil {
		err = errors.New("it is something else")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut off")
	}
	return fmt.Errorf("it is not one JSON object: %w; each line of a log of turns is one", err)
}

// kindOf tells what a value of valid JSON is.
func kindOf(raw []byte) (kind, []byte) {
	switch raw[0] {
	case '"':
		var v string
		_ = json.Unmarshal(raw, &v) // it is valid
		return text_, []byte(v)
	case 'n':
		return null, raw
	case 't', 'f', '{', '[':
		return other, raw
	}
	return number, raw
}

// quote appends a string as JSON.
func quote(b []byte, v string) []byte {
	plain := true
	for i := range len(v) {
		plain = plain && v[i] >= ' ' && v[i] < utf8.RuneSelf && v[i] != '"' && v[i] != '\\'
	}
	if plain {
		return append(append(append(b, '"'), v...), '"')
	}
	quoted, _ := json.Marshal(v) // a string has a form
	return append(b, quoted...)
}

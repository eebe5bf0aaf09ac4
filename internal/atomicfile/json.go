package atomicfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ParseJSON decodes the text of a JSON file. Its errors name the line and the column, and what
// JSON must be there; they do not name types of Go.
func ParseJSON(data []byte, v any) error { return ExplainJSON(data, json.Unmarshal(data, v)) }

// ExplainJSON converts an error of encoding/json to the error that ParseJSON returns. It does not
// change other errors.
func ExplainJSON(data []byte, err error) error {
	syntax, broken := errors.AsType[*json.SyntaxError](err)
	kind, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), broken && syntax.Offset >= int64(len(bytes.TrimRight(data, " \t\r\n"))):
		return fmt.Errorf("%s: the file ends in the middle of a value: it was written only in part", Position(data, int64(len(data))))
	case broken:
		return fmt.Errorf("%s: not JSON: %w", Position(data, syntax.Offset), err)
	case mistyped:
		return fmt.Errorf("%s: %w", Position(data, kind.Offset), InJSONTerms("the file", err))
	}
	return err
}

// InJSONTerms returns the error of encoding/json for JSON within a file or a message, whose offsets mean
// nothing to a reader. An error about a type names the JSON that must be there instead of a type of Go.
// whole names the JSON itself, such as "the answer".
func InJSONTerms(whole string, err error) error {
	kind, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	if !mistyped {
		return err
	}
	// Go adds the names of embedded types, which begin with a capital.
	path := slices.DeleteFunc(strings.Split(kind.Field, "."), func(name string) bool { return name == "" || unicode.IsUpper(rune(name[0])) })
	if len(path) > 0 {
		whole = strconv.Quote(strings.Join(path, "."))
	}
	return fmt.Errorf("%s must be %s, not %s", whole, inJSON(kind.Type), kind.Value)
}

// Position returns the line and the column of an offset in a text.
func Position(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

// inJSON describes the JSON of a Go type.
func inJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return inJSON(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number in range"
	}
	return "a number"
}

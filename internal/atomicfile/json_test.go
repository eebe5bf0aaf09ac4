package atomicfile

import (
	"testing"
)

// TestParseJSONSpeaksOfJSON checks that errors name the place and the JSON that is wanted, and no type
// of Go.
func TestParseJSONSpeaksOfJSON(t *testing.T) {
	type inner struct {
		At    *float64 `json:"at"`
		Count uint16   `json:"count"`
		On    bool     `json:"on"`
	}
	type file struct {
		Name   string           `json:"name"`
		Levels []inner          `json:"levels"`
		By     map[string]inner `json:"by"`
	}
	for text, want := range map[string]string{
		"{\n\"name\": 3}":            `line 2, column 10: "name" must be a text, not number`,
		`{"levels": {}}`:             `line 1, column 13: "levels" must be a list, not object`,
		`{"levels": [{"at": "x"}]}`:  `line 1, column 23: "levels.at" must be a number, not string`,
		`{"levels": [{"on": 1}]}`:    `line 1, column 21: "levels.on" must be true or false, not number`,
		`{"levels": [{"count":-1}]}`: `line 1, column 24: "levels.count" must be a whole number in range, not number -1`,
		`{"by": []}`:                 `line 1, column 9: "by" must be an object, not array`,
		`[]`:                         `line 1, column 2: the file must be an object, not array`,
		`{"name": "a"`:               `line 1, column 13: the file ends in the middle of a value: it was written only in part`,
		`{"name": x}`:                `line 1, column 11: not JSON: invalid character 'x' looking for beginning of value`,
		`{"name": "a"}`:              "",
	} {
		var f file
		got := ""
		if err := ParseJSON([]byte(text), &f); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error %q, want %q", text, got, want)
		}
	}
}

package dialect

import (
	"encoding/json"
	"strings"
	"testing"
)

// jsonTexts returns texts with every kind of value, and with mistakes.
func jsonTexts() []string {
	return []string{
		strings.TrimPrefix(strings.TrimSpace(typical), "data: "),
		`{"a":[1,{"b":"\u00e9\ud83d\ude00"}],"c":-1.5e3}`, `"\n"`, `[01]`, `{"a":1,}`, `null `, `"\x"`, `{} {}`, `"x\u12g4"`,
		`{"reasoning":"\u00e9\ud83d\ude00\ud83d","deep":[[{"a":[true,false,null,1.5e-7]}]]}`, `{"n":[0,-0,8e0,1.10,5.]}`,
		" {\"a\\u0062\" : \"\\/\\\\\" ,\t\"choices\": [ { \"finish_reason\" : \"length\" } , 0 ] }\r\n", "{\"a\":\"\xff\x01\"}",
	}
}

// agree checks that encoding/json accepts the same texts and decodes strings alike.
func agree(t *testing.T, text []byte) {
	t.Helper()
	s := newScanner(text)
	s.skip()
	if got, want := s.valid(), json.Valid(text); got != want {
		t.Fatalf("%q: valid is %v, want %v", text, got, want)
	}
	var want string
	if json.Unmarshal(text, &want) != nil || string(text) == "null" || want != string([]rune(want)) {
		return
	}
	s = newScanner(text)
	if got := string(s.text().clone().decode()); string([]rune(got)) != want {
		t.Errorf("%q is read as %q, want %q", text, got, want)
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(agree)
}

// TestScannerAgreesWithEncodingJSON cuts texts at each byte, and damages each byte.
func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range jsonTexts() {
		for i := range text {
			agree(t, []byte(text[:i]))
			for _, c := range []byte{'"', '\\', '}', '0', ' ', 'n'} {
				damaged := []byte(text)
				damaged[i] = c
				agree(t, damaged)
			}
		}
	}
}

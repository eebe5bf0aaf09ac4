package probe

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"synthetic/internal/redact"
	"synthetic/tools/testkit/echo"
)

// TestSinksGetNoSecret fills every text of a result with a key. A new field must be filtered, or be
// named here with the reason why it is not.
func TestSinksGetNoSecret(t *testing.T) {
	unfiltered := map[string]string{
		"Target": "configured", "Workload": "configured", "Model": "configured, or checked by isModelName",
		"Conversation": "random", "TraceID": "random", "SpanID": "random", "ParentSpanID": "random",
		"Kind": "a constant", "Outcome": "a constant", "Proof": "a constant", "Session": "a constant", "TPOTUnknown": "a constant",
		"UsageImpossible": "has numbers only", "Answer": "not shown", "Reasoning": "not shown", "Refusal": "not shown",
	}
	key := echo.Keys()[1]
	redact.Key(key)
	var r Result
	v := reflect.ValueOf(&r).Elem()
	fields := slices.DeleteFunc(reflect.VisibleFields(v.Type()), func(f reflect.StructField) bool { return f.Type.Kind() != reflect.String })
	for _, f := range fields {
		v.FieldByIndex(f.Index).SetString("you sent " + key)
	}
	out := reflect.ValueOf(r.withoutSecrets())
	for _, f := range fields {
		if got := out.FieldByIndex(f.Index); unfiltered[f.Name] == "" && got.String() != "you sent "+redact.Mark {
			t.Errorf("%s is %q: filter it in withoutSecrets", f.Name, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[2Jhi\x00  \n there \xff": "[2Jhi there ?",
		strings.Repeat("é", 200):       strings.Repeat("é", 150) + "…",
	} {
		if got := errorText(text); got != want || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
)

// TestTags holds that every key is documented, says what its absence means,
// and has a default and examples that the decoder accepts.
func TestTags(t *testing.T) {
	checkTags(t, "", reflect.TypeFor[file]())
	checkTags(t, "plan", reflect.TypeFor[filePlan]())
	checkTags(t, "scenario", reflect.TypeFor[fileScenario]())
	checkTags(t, "workloads[].followups.user", reflect.TypeFor[fileEndpoint]())
}

func checkTags(t *testing.T, path string, typ reflect.Type) {
	t.Helper()
	for _, f := range fieldsOf(typ) {
		at, inner := f.inner(path)
		if !strings.HasSuffix(f.doc, ".") {
			t.Errorf("%s: the doc %q is no sentence", at, f.doc)
		}
		if said := count(f.required, f.fallback != "", f.absent != ""); said != 1 {
			t.Errorf("%s: %d of required, default and absent are set, want one", at, said)
		}
		if f.fallback == "" && f.enum == nil && f.examples == nil {
			t.Errorf("%s: nothing shows how to write it", at)
		}
		for _, text := range append(f.examples, f.fallback) {
			checkWritten(t, at, f, text)
		}
		if inner != nil {
			checkTags(t, at, inner)
		}
	}
}

// checkWritten decodes a value of a tag as if it stood in a file.
func checkWritten(t *testing.T, at string, f field, text string) {
	t.Helper()
	if text == "" || (f.fallback == everything && text == everything) {
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Errorf("%s: %q is not YAML: %v", at, text, err)
		return
	}
	d := &decoder{places: map[string]*yaml.Node{}, wrong: map[string]bool{}}
	d.value(doc.Content[0], at, reflect.New(f.typ).Elem(), f)
	// Short examples of lists and mappings need not be complete.
	for _, p := range d.problems {
		if p.Message != "is missing" {
			t.Errorf("%s: %q: %v", at, text, p)
		}
	}
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// TestEnums holds that the values of the file are those of the packages that
// act on them.
func TestEnums(t *testing.T) {
	shapes := map[string]reflect.Type{"file": reflect.TypeFor[file](), "plan": reflect.TypeFor[filePlan]()}
	want := map[string][]string{
		"sli":        texts(slo.SLIs()...),
		"turns":      texts(probe.TurnKinds()...),
		"connection": texts(target.Reuse, target.PerConversation),
	}
	for shape, typ := range shapes {
		checkEnums(t, shape, typ, want)
	}
}

func checkEnums(t *testing.T, path string, typ reflect.Type, want map[string][]string) {
	t.Helper()
	for _, f := range fieldsOf(typ) {
		at, inner := f.inner(path)
		if values := want[f.name]; f.enum != nil && values != nil && !slices.Equal(f.enum, values) {
			t.Errorf("%s: the values are %v, want %v", at, f.enum, values)
		}
		if inner != nil {
			checkEnums(t, at, inner, want)
		}
	}
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

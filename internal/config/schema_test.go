package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// compileSchema compiles the schema, which also checks it against its metaschema.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Documentation().Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("synthetic.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("synthetic.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plain reads a YAML file as an editor does.
func plain(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Skipf("no plain YAML: %v", err)
	}
	return v
}

func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) < 6 {
		t.Fatalf("found %d examples, error %v", len(files), err)
	}
	return files
}

func TestExamplesLoad(t *testing.T) {
	for _, path := range examples(t) {
		if _, err := Load(path); err != nil {
			t.Errorf("%v", err)
		}
		if !strings.Contains(configurationIntro, "(../../examples/"+filepath.Base(path)+")") {
			t.Errorf("%s is not in the reference", path)
		}
	}
}

func TestSchemaAccepts(t *testing.T) {
	s := compileSchema(t)
	for _, path := range append(examples(t), "testdata/good/every-key.yml") {
		v := plain(t, path)
		if path == "testdata/good/every-key.yml" {
			// YAML libraries read this date as a time, which JSON lacks.
			body := v.(map[string]any)["targets"].([]any)[0].(map[string]any)["extra_body"]
			delete(body.(map[string]any)["nested"].(map[string]any), "date")
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSchemaRefuses checks that an editor marks every single key that Load refuses.
func TestSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	for _, name := range []string{
		"not-a-mapping", "null-value", "unknown-key", "unknown-key-far",
		"targets-empty", "targets-not-a-list", "target-not-a-mapping", "base-url-missing",
		"base-url-no-scheme", "base-url-scheme", "base-url-user", "base-url-query",
		"name-number", "key-inline", "key-two-places", "header-syntax", "connection",
		"extra-body-own", "workloads-empty", "turns-zero", "turns-scalar", "number-types",
		"number-range", "number-empty-text", "duration-unit", "followups-two",
		"followups-script", "followups-script-item", "traffic-empty",
		"traffic-targets-scalar", "arrival-process", "arrival-rate", "arrival-rate-unit",
		"budget-zero", "slo-missing-keys", "slo-sli", "slo-objective-99",
		"slo-objective-range", "slo-turns", "slo-window", "regression", "probe-hours", "many",
	} {
		if s.Validate(plain(t, "testdata/bad/"+name+".yml")) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

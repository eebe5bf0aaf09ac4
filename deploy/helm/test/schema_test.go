package chart

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "copy the schema of the configuration into values.schema.json")

// valuesSchema keeps the key order of the hand-written part.
type valuesSchema struct {
	Schema               string          `json:"$schema"`
	Title                string          `json:"title"`
	Type                 string          `json:"type"`
	AdditionalProperties bool            `json:"additionalProperties"`
	Required             []string        `json:"required"`
	Properties           json.RawMessage `json:"properties"`
	Defs                 struct {
		Duration      json.RawMessage `json:"duration"`
		FileMap       json.RawMessage `json:"fileMap"`
		Image         json.RawMessage `json:"image"`
		Labels        json.RawMessage `json:"labels"`
		Monitor       json.RawMessage `json:"monitor"`
		Named         json.RawMessage `json:"named"`
		Probe         json.RawMessage `json:"probe"`
		TextMap       json.RawMessage `json:"textMap"`
		Configuration json.RawMessage `json:"configuration"`
	} `json:"$defs"`
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestSchemaKnowsTheConfiguration compares the chart's copy of the configuration schema with
// the original. With it, "helm install" rejects a misspelt key before a pod starts.
func TestSchemaKnowsTheConfiguration(t *testing.T) {
	const path = chartDir + "/values.schema.json"
	var values valuesSchema
	readJSON(t, path, &values)
	var want map[string]any
	readJSON(t, "../../../docs/synthetic.schema.json", &want)
	delete(want, "$schema") // the dialect stands at the top of the values' schema

	if *update {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		values.Defs.Configuration = text
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(values); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got map[string]any
	if err := json.Unmarshal(values.Defs.Configuration, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("values.schema.json has another schema of the configuration than docs/synthetic.schema.json: run \"make helm-schema\"")
	}
}

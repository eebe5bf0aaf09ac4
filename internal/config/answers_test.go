package config

import (
	"slices"
	"testing"
)

// TestCanaryTargets checks that without names, all comparable targets are selected.
func TestCanaryTargets(t *testing.T) {
	cfg, err := Parse("x.yml", []byte(`targets:
  - {name: chat, base_url: "http://a"}
  - {name: many, base_url: "http://b", models: "*"}
  - {name: azure, base_url: "http://c", api: azure, model: m}
  - {name: ollama, base_url: "http://d", api: ollama}
  - {name: triton, base_url: "http://e", api: triton, model: m}
answers: {canary: {directory: refs}}`), ".")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"chat", "azure", "ollama"}; !slices.Equal(cfg.Canary.Targets, want) {
		t.Errorf("asks %q, want %q", cfg.Canary.Targets, want)
	}
}

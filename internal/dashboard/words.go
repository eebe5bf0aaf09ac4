package dashboard

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// word stands for a value.
type word struct{ text, color string }

// words maps values to what is shown in their place.
func words(by map[string]word) map[string]dashboard.ValueMappingResult {
	out := make(map[string]dashboard.ValueMappingResult, len(by))
	for value, w := range by {
		out[value] = dashboard.ValueMappingResult{Text: &w.text, Color: &w.color}
	}
	return out
}

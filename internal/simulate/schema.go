package simulate

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// instance returns a value, as JSON, that fits a JSON schema. It reads type, enum, properties, items, minimum
// and maximum, and returns a string for other schemas.
func instance(schema json.RawMessage, r *rand.Rand) string {
	root := map[string]any{"type": "object"}
	_ = json.Unmarshal(schema, &root) // invalid JSON counts as an empty object
	return encode(sample(root, r))
}

func sample(schema map[string]any, r *rand.Rand) any {
	if all, ok := schema["enum"].([]any); ok && len(all) > 0 {
		return all[r.IntN(len(all))]
	}
	properties, isObject := schema["properties"].(map[string]any)
	switch kind := schema["type"]; {
	case kind == "object" || isObject:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			part, _ := properties[name].(map[string]any)
			out[name] = sample(part, r)
		}
		return out
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items, r)}
	case kind == "integer" || kind == "number":
		low, isLow := schema["minimum"].(float64)
		high, isHigh := schema["maximum"].(float64)
		if !isHigh {
			high = low + 100
		}
		if !isLow {
			low = min(low, high)
		}
		return math.Floor(low + r.Float64()*(high-low))
	case kind == "boolean":
		return r.IntN(2) == 0
	case kind == "null":
		return nil
	}
	a := newAnswer(r.Uint64(), 0)
	return strings.TrimSpace(string(append(a.word(), a.word()...)))
}

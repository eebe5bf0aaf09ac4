package simulate

import (
	"fmt"
	"net/http"
	"slices"

	"synthetic/internal/simulate/cluster"
)

// names returns the models and adapters that requests may name.
func (o Options) names() []string { return slices.Concat([]string{o.Model}, o.Models, o.Adapters) }

func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.current()
	list := []any{}
	for _, name := range o.names() {
		entry := map[string]any{
			"id": name, "object": "model", "created": 0, "owned_by": "simulated", "root": name,
			"parent": nil, "max_model_len": o.MaxModelLen,
		}
		if slices.Contains(o.Adapters, name) {
			entry["parent"] = o.Model
		}
		list = append(list, entry)
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// identify sets the model that answers a turn, and the names that the answer contains.
func (t *turn) identify() {
	o, served := t.options, t.request.Model
	t.model = served
	if t.fault.Kind == OtherModel {
		served += "-other"
		t.model = served
	}
	if served != o.Model { // the key of the first model is 0
		t.modelKey = hashOf(served)
	}
	build := cluster.Mix(o.Seed ^ t.modelKey)
	if t.fault.Kind == NewFingerprint {
		build = cluster.Mix(build)
	}
	t.fingerprint = fmt.Sprintf("fp_%010x", build>>24)
}

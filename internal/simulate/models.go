package simulate

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"

	"synthetic/internal/simulate/cluster"
)

// names lists what requests may ask for.
func (o Options) names() []string { return slices.Concat([]string{o.Model}, o.Models, o.Adapters) }

// models lists the models and adapters.
func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.serving()
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

// identify says which model answers a turn, and what it says that it is.
func (t *turn) identify() {
	o, served := t.options, t.request.Model
	t.model = served
	switch {
	case t.fault.Kind == OtherModel:
		served = served + "-other"
		t.model = served
	case t.fault.Kind == BaseModel && slices.Contains(o.Adapters, served):
		served = o.Model
	}
	if served != o.Model { // the key of the one model is 0
		h := fnv.New64a()
		h.Write([]byte(served))
		t.key = h.Sum64()
	}
	build := cluster.Mix(o.Seed ^ t.key)
	if t.fault.Kind == NewFingerprint {
		build = cluster.Mix(build)
	}
	t.fingerprint = fmt.Sprintf("fp_%010x", build>>24)
}

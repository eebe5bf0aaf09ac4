package simulate

import (
	"fmt"
	"net/http"

	"synthetic/internal/simulate/cluster"
)

// names returns the models that requests may name.
func (o Options) names() []string { return append([]string{o.Model}, o.Models...) }

func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.current()
	list := []any{}
	for _, name := range o.names() {
		list = append(list, map[string]any{
			"id": name, "object": "model", "created": 0, "owned_by": "simulated", "root": name,
			"parent": nil, "max_model_len": o.MaxModelLen,
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// identify sets the model that answers a turn, and the names that the answer contains.
func (t *turn) identify() {
	o := t.options
	t.model = t.request.Model
	if t.model != o.Model { // the key of the first model is 0
		t.modelKey = hashOf(t.model)
	}
	t.fingerprint = fmt.Sprintf("fp_%010x", cluster.Mix(o.Seed^t.modelKey)>>24)
}

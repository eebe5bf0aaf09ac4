package simulate

import "net/http"

func (d *Deployment) models(w http.ResponseWriter, _ *http.Request) {
	o, _ := d.current()
	list := []any{map[string]any{
		"id": o.Model, "object": "model", "created": 0, "owned_by": "simulated", "root": o.Model,
		"parent": nil, "max_model_len": o.MaxModelLen,
	}}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

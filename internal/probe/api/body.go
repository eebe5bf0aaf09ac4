package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"synthetic/internal/probe/workload"
)

// encode returns the JSON object of the struct frame, with the fields of more
// spliced in behind and then those that a target adds; the configuration refuses
// those that would repeat one of the frame. A history may be long, so that it is
// written once, into a buffer that usually need not grow.
func encode(frame any, more, extra map[string]any, history []workload.Message) ([]byte, error) {
	maps.Copy(more, extra)
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("encoding the extra body fields: %w", err)
	}
	size := len(tail) + 256 // for the frame of the whole
	for _, m := range history {
		size += m.Size()*9/8 + 64 // for what is escaped, and the frame of a message
	}
	body := bytes.NewBuffer(make([]byte, 0, size))
	if err := json.NewEncoder(body).Encode(frame); err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	if len(more) == 0 {
		return bytes.TrimSuffix(body.Bytes(), []byte("\n")), nil
	}
	body.Truncate(body.Len() - len("}\n"))
	body.WriteByte(',')
	body.Write(tail[1:])
	return body.Bytes(), nil
}

package runfile

import (
	"bytes"
	"encoding/json"
	"fmt"

	"synthetic/internal/atomicfile"
)

// Encode returns the run as indented JSON with a last newline.
func Encode(r *Run) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a run: %w", err)
	}
	return b.Bytes(), nil
}

// Write writes the run to path, whole or not at all.
func Write(path string, r *Run) error {
	data, err := Encode(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o644)
}

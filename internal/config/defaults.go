package config

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// defaults returns a struct of the file as an empty mapping would give it.
func defaults[T any]() T {
	var v T
	d := &decoder{places: map[string]*yaml.Node{}, wrong: map[string]bool{}}
	d.structure(nil, "", reflect.ValueOf(&v).Elem())
	return v
}

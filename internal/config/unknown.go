package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKey says what was probably meant by a key that is not among fields.
func (d *decoder) unknownKey(key string, fields []field) mistake {
	known := names(fields)
	if slices.Contains(known, "api_key_file") && secretKey.MatchString(key) {
		return mistake{"", "keys are never written in the configuration", "put it in a file and write api_key_file, or in an environment variable and write api_key_env"}
	}
	if d.shape == nil {
		return mistake{"", "unknown key", suggest(key, known, "keys here")}
	}
	if slices.Contains(known, key+"s") {
		// A plural here is meant sooner than a namesake elsewhere.
		return mistake{"", "unknown key", suggest(key, []string{key + "s"}, "keys here")}
	}
	if homes := homesOf(key, "", d.shape); len(homes) == 1 {
		return mistake{"", "unknown key", fmt.Sprintf("write it under %s", homes[0])}
	}
	return mistake{"", "unknown key", suggest(key, known, "keys here")}
}

// homesOf lists the mappings under path, of type t, that know a key.
func homesOf(key, path string, t reflect.Type) []string {
	var homes []string
	for _, f := range fieldsOf(t) {
		if f.name == key {
			homes = append(homes, path)
		}
		at, inner := f.inner(path)
		if inner != nil {
			homes = append(homes, homesOf(key, at, inner)...)
		}
	}
	return homes
}

// shownKey prepares a key for a message: one line, short, and no secret.
func shownKey(key string) string {
	if s := shown(strings.Join(strings.Fields(key), " ")); s != "" {
		return s
	}
	return "(a key not shown)"
}

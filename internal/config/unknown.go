package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKey says what was probably meant by a key that is not among fields.
func unknownKey(key string, fields []field) mistake {
	known := names(fields)
	if slices.Contains(known, "api_key_file") && secretKey.MatchString(key) {
		return mistake{"", "keys are never written in the configuration", "put it in a file and write api_key_file, or in an environment variable and write api_key_env"}
	}
	if at := below(key, fields); at != "" {
		return mistake{"", "unknown key", fmt.Sprintf("write it under %s", at)}
	}
	return mistake{"", "unknown key", suggest(key, known, "keys here")}
}

// below finds key among the keys of the mappings directly under fields.
func below(key string, fields []field) string {
	for _, f := range fields {
		t := f.typ
		if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && slices.Contains(names(fieldsOf(t)), key) {
			return f.name
		}
	}
	return ""
}

// shownKey prepares a key for a message: one line, short, and no secret.
func shownKey(key string) string {
	if s := shown(strings.Join(strings.Fields(key), " ")); s != "" {
		return s
	}
	return "(a key not shown)"
}

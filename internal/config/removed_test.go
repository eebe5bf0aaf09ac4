package config

import (
	"errors"
	"strings"
	"testing"

	"synthetic/internal/config/yamlform"
)

// TestRemovedKeys checks that each removed key is refused with its remedy, in the file that had it.
func TestRemovedKeys(t *testing.T) {
	removed := removedKeys()
	if len(removed) == 0 {
		t.Fatal("no keys")
	}
	for path, remedy := range removed {
		t.Run(path, func(t *testing.T) {
			file := nested(strings.Split(path, "."))
			_, asConfig := Parse("f.yml", []byte(file), "testdata/good")
			_, asPlan := ParsePlan("testdata/good/f.yml", []byte(file), nil)
			if !refuses(t, asConfig, path, remedy) && !refuses(t, asPlan, path, remedy) {
				t.Errorf("%s\nas a configuration:\n%v\nas a plan:\n%v", file, asConfig, asPlan)
			}
		})
	}
}

// nested returns the YAML text of a file with one key, in flow style.
func nested(keys []string) string {
	if len(keys) == 0 {
		return "1"
	}
	name, isList := strings.CutSuffix(keys[0], "[]")
	inner := nested(keys[1:])
	switch {
	case isList && len(keys) == 1:
		return "{" + name + ": [1]}"
	case isList:
		return "{" + name + ": [" + inner + "]}"
	}
	return "{" + name + ": " + inner + "}"
}

// refuses reports whether err says that the key at path was removed, with its remedy.
func refuses(t *testing.T, err error, path, remedy string) bool {
	t.Helper()
	problems, _ := errors.AsType[yamlform.Errors](err)
	for _, p := range problems {
		if strings.ReplaceAll(p.Field, "[0]", "[]") == path && p.Message == "was removed" && p.Remedy == remedy {
			return true
		}
	}
	return false
}

package yamlform

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Suggest says what was probably meant by name, or lists what there is.
func Suggest(name string, known []string, what string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	switch len(known) {
	case 0:
		return "there are no " + what
	case 1:
		return "write " + known[0]
	}
	return fmt.Sprintf("the %s are %s", what, Sequence(known))
}

// nearest returns the known name closest to name, or "" when none is close:
// one letter in four may be wrong, or one contains the other.
func nearest(name string, known []string) string {
	if len(name) < 2 || len(name) > 64 {
		return ""
	}
	best, bestDistance := "", (len(name)+1)/4+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(name) < 3 {
		return best
	}
	i := slices.IndexFunc(known, func(k string) bool {
		return strings.Contains(k, name) || (len(k) > 3 && strings.Contains(name, k))
	})
	if i >= 0 {
		return known[i]
	}
	return ""
}

// distance counts the single-letter edits (insert, delete, replace, swap of
// neighbours) between two names.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// maxListed is how many names a message lists.
const maxListed = 16

// Sequence writes names as a person would: "a, b and c".
func Sequence(names []string) string {
	n := len(names) - 1
	switch {
	case n < 1:
		return strings.Join(names, "")
	case n >= maxListed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names[:n], ", ") + " and " + names[n]
}

// listIndex matches the index of a list's item in a path.
var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// unknownKey returns the mistake for a key of v, at path, that does not exist. The
// remedy names the key that was probably meant.
func (f *Form) unknownKey(key, path string, v reflect.Value, known []string) *Mistake {
	if f.enough() { // nobody will read it, and the whole form is searched for it
		return Bad("", "unknown key", "")
	}
	if remedy := f.removed[listIndex.ReplaceAllString(path, "[]")]; remedy != "" {
		return Bad("", "was removed", remedy)
	}
	if own, ok := v.Addr().Interface().(interface{ UnknownKey(string) *Mistake }); ok {
		if m := own.UnknownKey(key); m != nil {
			return m
		}
	}
	remedy := Suggest(key, known, "keys here")
	if slices.Contains(known, key+"s") {
		// A plural here is meant sooner than a namesake elsewhere.
		remedy = Suggest(key, []string{key + "s"}, "keys here")
	} else if homes, owners := homesOf(key, "", f.shape); len(owners) == 1 {
		remedy = "write it under " + homes[0]
	}
	return Bad("", "unknown key", remedy)
}

// homesOf lists the mappings under path, of type t, that know a key, and the structs
// that it is of: one key of several mappings is of one.
func homesOf(key, path string, t reflect.Type) (homes []string, owners map[string]bool) {
	owners = map[string]bool{}
	for _, f := range Fields(t) {
		if f.Name == key {
			homes = append(homes, path)
			owners[f.owner] = true
		}
		if at, inner := f.Inner(path); inner != nil {
			more, of := homesOf(key, at, inner)
			homes = append(homes, more...)
			maps.Copy(owners, of)
		}
	}
	return homes, owners
}

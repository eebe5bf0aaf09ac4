package yamlform

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Suggest returns a remedy for an unknown name: the known name closest to it, or all known names.
// plural is a word for the names.
func Suggest(name string, known []string, plural string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	switch len(known) {
	case 0:
		return "there are no " + plural
	case 1:
		return "write " + known[0]
	}
	return fmt.Sprintf("the %s are %s", plural, Sequence(known))
}

// Suggest is the function Suggest, but returns "" if nobody will read the remedy: finding it takes time.
func (f *Form) Suggest(name string, known []string, plural string) string {
	if f.isFull() {
		return ""
	}
	return Suggest(name, known, plural)
}

// nearest returns the known name closest to name, or "". A close name differs in at most one letter
// of four; otherwise one must contain the other.
func nearest(name string, known []string) string {
	if len(name) < 2 || len(name) > 64 {
		return ""
	}
	best, bestDistance := "", (len(name)+1)/4+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k), bestDistance); d < bestDistance {
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

// distance counts the single-letter edits between two names: insertions, deletions, replacements and
// swaps of neighbours. It returns some number of limit or more if there are that many.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	beforeLast, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
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
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
		if slices.Min(last) >= limit && slices.Min(beforeLast) >= limit {
			return limit
		}
	}
	return last[len(b)]
}

const maxListed = 16 // names in a message

// Sequence joins names as in "a, b and c".
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

// unknownKey returns the mistake of an unknown key of v. The remedy names the key that was probably
// meant.
func (f *Form) unknownKey(key string, v reflect.Value, known []string) *Mistake {
	if f.isFull() { // nobody will read the remedy, and finding it takes time
		return Bad("", "unknown key", "")
	}
	if own, ok := v.Addr().Interface().(interface{ UnknownKey(string) *Mistake }); ok {
		if m := own.UnknownKey(key); m != nil {
			return m
		}
	}
	remedy := Suggest(key, known, "keys here")
	if slices.Contains(known, key+"s") {
		// The plural here is more likely than the same key elsewhere.
		remedy = Suggest(key, []string{key + "s"}, "keys here")
	} else if homes, owners := homesOf(key, "", f.fileType); len(owners) == 1 {
		remedy = "write it under " + homes[0]
	}
	return Bad("", "unknown key", remedy)
}

// homesOf lists the mappings under path that have a key, and the struct types that define it. t is
// the type of the mapping at path.
func homesOf(key, path string, t reflect.Type) (homes []string, owners map[string]bool) {
	owners = map[string]bool{}
	for _, f := range Fields(t) {
		if f.Name == key {
			homes = append(homes, path)
			owners[f.owner] = true
		}
		if at, inner := f.Inner(path); inner != nil {
			innerHomes, innerOwners := homesOf(key, at, inner)
			homes = append(homes, innerHomes...)
			maps.Copy(owners, innerOwners)
		}
	}
	return homes, owners
}

package yamlform

import (
	"fmt"
	"strings"
)

// Suggest returns a remedy for an unknown name: all known names. plural is a word for the names.
func Suggest(known []string, plural string) string {
	switch len(known) {
	case 0:
		return "there are no " + plural
	case 1:
		return "write " + known[0]
	}
	return fmt.Sprintf("the %s are %s", plural, Sequence(known))
}

const maxListed = 32 // names in a message

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

package yamlform

import "iter"

// wrongs is the set of the keys that were found wrong, by their paths.
type wrongs struct {
	at map[string]bool
	// around has the paths that lead to one of them. A file can have as many
	// mistakes as lines, and each check of a key asks for what is in it.
	around map[string]bool
}

func newWrongs() wrongs { return wrongs{map[string]bool{}, map[string]bool{}} }

func (w wrongs) add(path string) {
	w.at[path] = true
	for outer := range outside(path) {
		w.around[outer] = true
	}
}

// touch says that the key at path, or what is in it or around it, is wrong.
func (w wrongs) touch(path string) bool {
	if w.at[path] || w.around[path] {
		return true
	}
	for outer := range outside(path) {
		if w.at[outer] {
			return true
		}
	}
	return false
}

// outside yields the paths that lead to what is at path.
func outside(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range path {
			if (c == '.' || c == '[') && !yield(path[:i]) {
				return
			}
		}
	}
}

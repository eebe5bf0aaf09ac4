package target

import (
	"fmt"
	"os"
	"strings"
)

// Key says where an API key is to be found. It never holds the key itself, so
// printing a Target cannot leak it.
type Credential struct {
	// File is read at each use; surrounding white space is dropped.
	File string
	// Env names an environment variable, used when File is empty.
	Env string
}

// Read returns the key, or "" when none is configured. It reads anew each
// time, so a rotated secret needs no reload. The errors name the file or the
// variable and never its content.
func (k Credential) Read() (string, error) {
	switch {
	case k.File != "":
		b, err := os.ReadFile(k.File)
		if err != nil {
			return "", fmt.Errorf("reading the API key file: %w", err)
		}
		if s := strings.TrimSpace(string(b)); s != "" {
			return s, nil
		}
		return "", fmt.Errorf("the API key file %q is empty", k.File)
	case k.Env != "":
		if s := strings.TrimSpace(os.Getenv(k.Env)); s != "" {
			return s, nil
		}
		return "", fmt.Errorf("the environment variable %q, which should hold the API key, is not set", k.Env)
	}
	return "", nil
}

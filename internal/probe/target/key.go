package target

import (
	"fmt"
	"os"
	"strings"
)

// Credential says where to find an API key. It does not hold the key, so printing a Target
// cannot reveal it.
type Credential struct {
	// File is read for each request, without surrounding white space.
	File string
	// Env is an environment variable. It is used if File is empty.
	Env string
}

// Read returns the key, or "" if no key is configured. A rotated key needs no reload. Errors name
// the file or variable, never its content.
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

package target

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
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
		return oneLine(string(b), fmt.Sprintf("the API key file %q is empty", k.File), fmt.Sprintf("the API key file %q", k.File))
	case k.Env != "":
		return oneLine(os.Getenv(k.Env), fmt.Sprintf("the environment variable %q, which should hold the API key, is not set", k.Env), fmt.Sprintf("the environment variable %q", k.Env))
	}
	return "", nil
}

// oneLine returns the text without surrounding white space. A text of several lines cannot be sent as a header.
func oneLine(text, empty, place string) (string, error) {
	key := strings.TrimSpace(text)
	switch {
	case key == "":
		return "", errors.New(empty)
	case !httpguts.ValidHeaderFieldValue(key):
		return "", fmt.Errorf("%s has a line break or a control character within the key: it must hold the key alone, on one line", place)
	}
	return key, nil
}

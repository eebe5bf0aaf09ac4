package config

import (
	"regexp"
	"strings"
)

// secretKey matches names of keys under which people write secrets.
var secretKey = regexp.MustCompile(`(?i)^(api[-_]?)?(key|token)$|password|secret|bearer|authorization|credential|^apikey$`)

// secretValue matches texts that are probably keys: the known prefixes, user
// information in a URL, and long runs without a separator.
var secretValue = regexp.MustCompile(`(?i)^(sk|hf|gsk|pk|ghp|xox[a-z])[-_]|^nvapi-|^eyJ|^bearer\s|^basic\s|//[^/\s]*@|[?&][^=]*(key|token|sig)[^=]*=`)

// longRun matches what no host, path or name is made of.
var longRun = regexp.MustCompile(`[A-Za-z0-9_+=-]{32,}`)

// looksSecret reports whether a value may be a secret and must not be printed.
// It errs on the side of silence: the place in the file is always given.
func looksSecret(s string) bool {
	if secretValue.MatchString(strings.TrimSpace(s)) {
		return true
	}
	run := longRun.FindString(s)
	return run != "" && strings.ContainsAny(run, "0123456789")
}

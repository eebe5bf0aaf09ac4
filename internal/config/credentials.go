package config

import (
	"regexp"
	"strings"

	"synthetic/internal/target"
)

// envName matches names of environment variables; likeKey matches the ones of
// them that are keys rather than names, unlike HF_TOKEN.
var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	likeKey = regexp.MustCompile(`^((sk|pk|hf|gsk|ghp)_|eyJ)[A-Za-z0-9_]*[0-9]`)
)

// key resolves where the API key is found.
func (b *builder) key(path string, e fileEndpoint) target.Key {
	if e.APIKeyEnv != "" && (!envName.MatchString(e.APIKeyEnv) || likeKey.MatchString(e.APIKeyEnv)) {
		b.mistake(path+".api_key_env", "", "is not the name of an environment variable (value not shown)", "write the variable's name, for example LLM_API_KEY")
	}
	return target.Key{
		File: b.file(path+".api_key_file", e.APIKeyFile, true),
		Env:  e.APIKeyEnv,
	}
}

// tls resolves the TLS settings.
func (b *builder) tls(path string, e fileEndpoint) target.TLS {
	at := path + ".tls"
	if b.has(at) && strings.HasPrefix(string(e.BaseURL), "http://") && b.fine(path+".base_url") {
		b.mistake(at, "", "has no effect on an http address", "write https:// in base_url, or remove tls")
	}
	switch {
	case e.TLS.CertFile != "" && e.TLS.KeyFile == "":
		b.mistake(at+".key_file", "", "is missing beside cert_file", "write key_file, or remove cert_file")
	case e.TLS.CertFile == "" && e.TLS.KeyFile != "":
		b.mistake(at+".cert_file", "", "is missing beside key_file", "write cert_file, or remove key_file")
	}
	return target.TLS{
		CAFile:             b.file(at+".ca_file", e.TLS.CAFile, false),
		CertFile:           b.file(at+".cert_file", e.TLS.CertFile, false),
		KeyFile:            b.file(at+".key_file", e.TLS.KeyFile, false),
		ServerName:         e.TLS.ServerName,
		InsecureSkipVerify: e.TLS.InsecureSkipVerify,
	}
}

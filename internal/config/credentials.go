package config

import (
	"regexp"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
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

// tls resolves the TLS settings of the address under the key urlKey.
func (b *builder) tls(path, urlKey, url string, t fileTLS) promconfig.TLSConfig {
	at := path + ".tls"
	if b.has(at) && strings.HasPrefix(url, "http://") && b.fine(path+"."+urlKey) {
		b.mistake(at, "", "has no effect on an http address", "write https:// in "+urlKey+", or remove tls")
	}
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		b.mistake(at+".key_file", "", "is missing beside cert_file", "write key_file, or remove cert_file")
	case t.CertFile == "" && t.KeyFile != "":
		b.mistake(at+".cert_file", "", "is missing beside key_file", "write cert_file, or remove key_file")
	}
	return promconfig.TLSConfig{
		CAFile:             b.file(at+".ca_file", t.CAFile, false),
		CertFile:           b.file(at+".cert_file", t.CertFile, false),
		KeyFile:            b.file(at+".key_file", t.KeyFile, false),
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify,
	}
}

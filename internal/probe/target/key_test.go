package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"
)

// TestHeadersOfOneLine: a file of several lines cannot be sent, and no part of it is shown.
func TestHeadersOfOneLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	header := promconfig.Headers{Headers: map[string]promconfig.Header{"X-Tenant": {Files: []string{file}}}}
	for text, fits := range map[string]bool{"one-secret\n": true, "  one-secret\r\n\n": true, "\ufeffone-secret\r\n": true, "\ufeff\n": false, "one-secret\ntwo-secret": false, "one-secret\x00": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, target := range map[string]Target{
			file:       {Key: Credential{File: file}},
			"X-Tenant": {HTTP: promconfig.HTTPClientConfig{HTTPHeaders: &header}},
		} {
			a := NewAuthorizer(target, "")
			h, err := a.Header(t.Context())
			if sent := h.Get("X-Tenant") + h.Get("Authorization"); fits && !strings.HasSuffix(" "+sent, " one-secret") {
				t.Errorf("%q: sent as %q", text, sent)
			}
			if a.Close(); (err == nil) != fits || err != nil && (!strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%q: %v, want it sent: %v", text, err, fits)
			}
		}
	}
}

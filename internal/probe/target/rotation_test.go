package target

import (
	"io"
	"net/http"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/tools/testkit/tlstest"
)

// TestOAuth2Rotation checks that each token request uses the current secret and certificates.
// The tokens live so short that each call fetches one.
func TestOAuth2Rotation(t *testing.T) {
	now := tlstest.NewGeneration(t, "hunter2")
	files := tlstest.NewFiles(t, now)
	server := tlstest.NewServer(t, now, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"fresh","token_type":"bearer","expires_in":1}`)
	}))
	a := NewAuthorizer(Target{HTTP: promconfig.HTTPClientConfig{OAuth2: &promconfig.OAuth2{
		ClientID: "id", ClientSecretFile: files.Path("token"), TokenURL: server.URL, TLSConfig: files.Client(),
	}}}, "")
	defer a.Close()
	tlstest.Rotation(t, server, files, now, func() error {
		_, err := a.Header(t.Context())
		return err
	})
}

package tlstest

import (
	"strings"
	"testing"
)

// Client sends a request over a new connection or a connection that it keeps.
type Client func() error

// Rotation tests that a client, created from files, survives a rotation without a restart.
// First the server is rotated, then the files, which are half-written at one moment and
// missing at another.
func Rotation(t *testing.T, server *Server, files *Files, now Generation, ask Client) {
	t.Helper()
	works := func(when string) {
		t.Helper()
		if err := ask(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	fails := func(when string) {
		t.Helper()
		switch err := ask(); {
		case err == nil:
			t.Errorf("%s: the request succeeded", when)
		case strings.Contains(err.Error(), now.Token), strings.Contains(err.Error(), "PRIVATE"):
			t.Errorf("%s: the error contains the secret: %v", when, err)
		}
	}
	works("before the rotation")
	next := NewGeneration(t, now.Token+"-next")
	server.Rotate(next)
	fails("with the old files")
	files.Tear(next)
	fails("with half-written files")
	files.Remove()
	fails("without files")
	files.Rotate(next)
	works("after the rotation")
	works("once more")
}

package tlstest

import (
	"strings"
	"testing"
)

// Client is one that is asked to reach a server, over a connection of its own
// or one that it keeps.
type Client func() error

// Rotation lives through a rotation with a client that is made from files and is
// never told: the server is rotated first, then the files are, after a moment in
// which they are half-written and one in which they are missing.
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
			t.Errorf("%s: it works", when)
		case strings.Contains(err.Error(), now.Token), strings.Contains(err.Error(), "PRIVATE"):
			t.Errorf("%s: the error has the secret: %v", when, err)
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

package tlstest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	promconfig "github.com/prometheus/common/config"
)

// Files are the files of a generation as a kubelet mounts them: symbolic links through a
// directory that is replaced atomically.
type Files struct {
	t   *testing.T
	dir string
	n   int
}

func NewFiles(t *testing.T, g Generation) *Files {
	t.Helper()
	f := &Files{t: t, dir: t.TempDir()}
	for _, name := range []string{"ca.pem", "cert.pem", "key.pem", "token"} {
		f.must(os.Symlink(filepath.Join("..data", name), f.Path(name)))
	}
	f.Rotate(g)
	return f
}

// Path returns the path of ca.pem, cert.pem, key.pem or token.
func (f *Files) Path(name string) string { return filepath.Join(f.dir, name) }

// Client returns the TLS configuration of a client that trusts the authority and has the
// certificate.
func (f *Files) Client() promconfig.TLSConfig {
	return promconfig.TLSConfig{CAFile: f.Path("ca.pem"), CertFile: f.Path("cert.pem"), KeyFile: f.Path("key.pem")}
}

// Rotate replaces all files at once.
func (f *Files) Rotate(g Generation) {
	f.t.Helper()
	f.write(map[string][]byte{"ca.pem": g.CA, "cert.pem": g.Cert, "key.pem": g.Key, "token": []byte(g.Token + "\n")})
}

// Tear leaves each file half-written.
func (f *Files) Tear(g Generation) {
	f.t.Helper()
	half := func(b []byte) []byte { return b[:len(b)/2] }
	f.write(map[string][]byte{"ca.pem": half(g.CA), "cert.pem": half(g.Cert), "key.pem": half(g.Key), "token": nil})
}

// Remove removes all files.
func (f *Files) Remove() {
	f.t.Helper()
	f.write(nil)
}

func (f *Files) write(files map[string][]byte) {
	f.t.Helper()
	f.n++
	fresh := fmt.Sprintf("..%d", f.n)
	f.must(os.Mkdir(filepath.Join(f.dir, fresh), 0o700))
	for name, data := range files {
		f.must(os.WriteFile(filepath.Join(f.dir, fresh, name), data, 0o600))
	}
	f.must(os.Symlink(fresh, f.Path("..data_tmp")))
	f.must(os.Rename(f.Path("..data_tmp"), f.Path("..data")))
}

func (f *Files) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

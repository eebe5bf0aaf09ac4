package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
)

// TestAServerWritesNothingIntoTheLog has a server that sends frames of an unknown type. HTTP/2's client
// would log each of them.
func TestAServerWritesNothingIntoTheLog(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	refused, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			sendStrangeFrames(c)
			if n == 1 { // the first turn has ended
				close(refused)
			}
		}
	}()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := fmt.Sprintf(`
targets:
  - {name: chat, base_url: "https://%s/v1", model: m, http_client: {enable_http2: true, tls_config: {insecure_skip_verify: true}}}
workloads: [{name: short, turns: {min: 1, max: 1}}]
traffic: [{targets: [chat], workload: short, arrival: {process: constant, rate: 20}}]
`, l.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, _, stderr := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=0s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-refused
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	l.Close()
	<-stopped
	if strings.Contains(stderr.String(), "frame") {
		t.Errorf("the log has %d bytes: %.400s", stderr.Len(), stderr)
	}
}

// sendStrangeFrames refuses a request after 1,000 frames of an unknown type.
func sendStrangeFrames(c net.Conn) {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	_ = f.WriteSettings()
	for range 1000 {
		_ = f.WriteRawFrame(0xbb, 0, 0, []byte("strange"))
	}
	_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
	_, _ = io.Copy(io.Discard, c)
}

//go:build linux

package main

import (
	"crypto/tls"
	"testing"

	"synthetic/internal/config"
)

// TestConfigurations: the program accepts every configuration except the two invalid ones.
func TestConfigurations(t *testing.T) {
	keys, err := newKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDeployment("kept-00", 1, soakFirstToken, keys, [2]*tls.Certificate{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.down()
	for _, c := range configurations() {
		text := c.Text
		if text == "" {
			text = c.text(settings{fleet: []*deployment{d}, keys: keys.path, pager: "pager", mail: "http://127.0.0.1:1"})
		}
		if _, err := config.Parse("synthetic.yml", []byte(text), t.TempDir()); (err == nil) != (c.Text == "") {
			t.Errorf("%s: %v\n%s", c.Name, err, text)
		}
	}
}

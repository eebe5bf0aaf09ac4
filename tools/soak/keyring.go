//go:build linux

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// keyring is a key in a file that is rotated. It keeps all earlier keys, which must not
// appear in any output.
type keyring struct {
	path string
	mu   sync.Mutex
	all  []string
}

func newKeyring(dir string) (*keyring, error) {
	k := &keyring{path: filepath.Join(dir, "key")}
	return k, k.rotate()
}

// rotate writes a new key to the file. Deployments still accept the earlier keys, as during
// a real rotation.
func (k *keyring) rotate() error {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	key := "sk-soak-" + hex.EncodeToString(raw)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, key)
	if err := os.WriteFile(k.path+".new", []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	return os.Rename(k.path+".new", k.path)
}

func (k *keyring) knows(authorization string) bool {
	key, _ := strings.CutPrefix(authorization, "Bearer ")
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.all, key)
}

// leaks reports whether a text contains a key, or most of one.
func (k *keyring) leaks(text string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.all, func(key string) bool { return strings.Contains(text, key[len(key)-20:]) })
}

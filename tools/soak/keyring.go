//go:build linux

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// keyring is a key in a file that is rotated, and all that it ever was: the
// texts that nothing may repeat.
type keyring struct {
	path string
	mu   sync.Mutex
	all  []string
}

func newKeyring(dir string) (*keyring, error) {
	k := &keyring{path: filepath.Join(dir, "key")}
	return k, k.rotate()
}

// rotate replaces the file. Deployments go on to take the keys of before, as
// they do while a rotation spreads.
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
	for _, known := range k.all {
		if key == known {
			return true
		}
	}
	return false
}

// told reports whether a text holds a key, or the better part of one.
func (k *keyring) told(text string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.all {
		if strings.Contains(text, key[len(key)-20:]) {
			return true
		}
	}
	return false
}

package sidecar_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/store"
)

// logged is a log to which several goroutines write.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestDamagedHistory: a damaged history file is renamed, and the temporary file of a killed process is
// removed.
func TestDamagedHistory(t *testing.T) {
	dir := t.TempDir()
	state, stray := filepath.Join(dir, "baselines.json"), filepath.Join(dir, ".baselines.json.history1234567890123")
	for _, path := range []string{state + ".history", stray} {
		if err := os.WriteFile(path, []byte("not one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := &logged{}
	s, err := sidecar.New(sidecar.Options{StateFile: state, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept, err := os.ReadFile(state + ".history.damaged")
	if err != nil || string(kept) != "not one" || !strings.Contains(log.String(), "The history file is damaged") {
		t.Errorf("kept %q, error %v, log\n%s", kept, err, log)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("the temporary file is still there")
	}
}

// TestHistoryIsSaved: the history is saved once an hour and at the end.
func TestHistoryIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		_, stop := s.begin()
		file := s.stateFile() + ".history"
		time.Sleep(59 * time.Minute)
		if _, err := os.Stat(file); err == nil {
			t.Error("it was saved within the hour")
		}
		time.Sleep(2 * time.Minute)
		if _, err := store.Read(file); err != nil {
			t.Errorf("after an hour: %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, err := os.Stat(file); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}

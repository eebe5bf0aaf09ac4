package kube

import "sync"

// warnings collects the warnings of the API server.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeader records a warning from the client.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// since returns the warnings after the first n.
func (w *warnings) since(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[n:]
}

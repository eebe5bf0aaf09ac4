package config

import (
	"strings"

	"synthetic/internal/probe/workload"
)

// replay turns the workload at path into a replay of a file of conversations,
// which brings its own texts and its own number of turns.
func (b *builder) replay(path string, w fileWorkload, s *workload.Spec) {
	at := path + ".conversations_file"
	if w.ConversationsFile == "" || !b.fine(at) {
		return
	}
	for _, key := range []string{"prompt_tokens", "starters", "followups", "turns.min"} {
		if b.has(path + "." + key) {
			b.mistake(path+"."+key, "", "has no effect beside conversations_file, which brings its own", "remove one of the two")
		}
	}
	s.PromptTokens, s.Starters, s.FollowupTokens, s.TurnsMin = 0, 0, 0, 0
	if !b.has(path + ".turns.max") {
		s.TurnsMax = 0
	}
	s.ConversationsFile = b.file(at, w.ConversationsFile, false)
	if !b.fine(at) {
		return
	}
	// The source that will read the file for the jobs knows best what it takes.
	if _, err := workload.NewSource(*s); err != nil {
		reason := strings.TrimPrefix(err.Error(), s.ConversationsFile+":")
		b.mistake(at, shown(w.ConversationsFile), "has a mistake in line "+reason, "")
	}
}

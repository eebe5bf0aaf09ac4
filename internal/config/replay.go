package config

// replay checks the file of conversations of a workload.
func (b *builder) replay(path, file string) string {
	if file == "" {
		return ""
	}
	for _, key := range []string{"prompt_tokens", "starters", "followups"} {
		if b.has(path + "." + key) {
			b.mistake(path+"."+key, "", "has no effect beside conversations_file, which brings its own texts", "remove one of the two")
		}
	}
	return b.file(path+".conversations_file", file, false)
}

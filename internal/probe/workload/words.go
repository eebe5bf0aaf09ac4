package workload

import (
	_ "embed"
	"strings"
)

// vocabulary has on each line some words of a kind, or a pattern of a sentence
// (S) or a question (Q). In a pattern N, V, A, D and P stand for a noun, verb,
// adjective, adverb and preposition. The words are common, short and lower-case
// ASCII: tokenizers take most of them as one token each, and a character is a
// byte.
//
//go:embed words.txt
var vocabulary string

var (
	sentences, questions = vocabularyLines("S"), vocabularyLines("Q")
	nouns                = vocabularyWords("N")
	standIns             = map[string][]string{
		"N": nouns, "V": vocabularyWords("V"), "A": vocabularyWords("A"), "D": vocabularyWords("D"), "P": vocabularyWords("P"),
	}
)

func vocabularyWords(kind string) []string {
	return strings.Fields(strings.Join(vocabularyLines(kind), " "))
}

func vocabularyLines(kind string) (lines []string) {
	for line := range strings.Lines(vocabulary) {
		if text, ok := strings.CutPrefix(line, kind+": "); ok {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return lines
}

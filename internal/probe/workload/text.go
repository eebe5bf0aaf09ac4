package workload

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

// prose generates text that looks like English to a tokenizer. The text depends only on rng.
type prose struct {
	rng *rand.Rand
	b   strings.Builder
}

// document returns at most n characters that start with the title. With the same random source,
// a shorter text is a prefix of a longer one.
func document(rng *rand.Rand, title string, n int) string {
	p := &prose{rng: rng}
	p.b.Grow(n + 128)
	p.b.WriteString(title)
	p.b.WriteString(".\n\n")
	for p.b.Len() < n {
		for range 4 + p.rng.IntN(4) {
			p.fill(p.pick(sentences))
			p.b.WriteByte(' ')
		}
		p.b.WriteString("\n\n")
	}
	return cut(p.b.String(), n)
}

// documentTokens is the length above which a generated follow-up is a document, such as the output of a
// tool. Nobody asks a question of this length.
const documentTokens = 300

// documentAndQuestion returns at most chars characters: a document and a question about it, which makes
// the model answer at length. A short text has no question.
func documentAndQuestion(rng *rand.Rand, title, ask string, chars int) string {
	if left := chars - len(ask) - 2; left > len(ask) {
		return document(rng, title, left) + "\n\n" + ask
	}
	return document(rng, title, chars)
}

func question(rng *rand.Rand) string {
	p := &prose{rng: rng}
	p.fill(p.pick(questions))
	return p.b.String()
}

// questionText returns questions with at most n characters in total, but at least one word. The
// last question may be cut.
func questionText(rng *rand.Rand, n int) string {
	p := &prose{rng: rng}
	p.fill(p.pick(questions))
	for p.b.Len() < n {
		p.b.WriteByte(' ')
		p.fill(p.pick(questions))
	}
	return strings.TrimRight(cut(p.b.String(), n-1), ".,?") + "?"
}

// cut shortens s to at most n characters at the end of a word, but not to an empty text.
func cut(s string, n int) string {
	if len(s) <= n {
		return strings.TrimSpace(s)
	}
	end := strings.LastIndexAny(s[:max(n, 0)+1], " \n")
	if end <= 0 {
		end = strings.IndexAny(s, " \n")
	}
	if end <= 0 {
		return s
	}
	return strings.TrimSpace(s[:end])
}

// title returns a heading for index. Its first word is unique until all nouns are used; then
// the second word makes the difference.
func title(order []int, index uint64) string {
	n := uint64(len(order))
	first := nouns[order[index%n]]
	words := []string{strings.ToUpper(first[:1]) + first[1:]}
	for index /= n; index > 0; index /= n {
		words = append(words, nouns[order[index%n]])
	}
	return strings.Join(words, " ")
}

func (p *prose) pick(words []string) string { return words[p.rng.IntN(len(words))] }

func (p *prose) fill(pattern string) {
	first := true
	for field := range strings.FieldsSeq(pattern) {
		if !first {
			p.b.WriteByte(' ')
		}
		first = false
		stem := strings.TrimRight(field, ".,;?")
		p.b.WriteString(p.word(stem))
		p.b.WriteString(field[len(stem):])
	}
}

func (p *prose) word(stem string) string {
	if words := standIns[stem]; words != nil {
		return p.pick(words)
	}
	return stem
}

// vocabulary has lines with words of one kind, or with a pattern of a sentence (S) or question (Q). N, V,
// A, D and P in a pattern stand for a noun, verb, adjective, adverb and preposition. Most words are one
// token each, because they are common, short and lower-case. They are ASCII, so a character is a byte.
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

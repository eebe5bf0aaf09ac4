package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
)

const formatVersion = 1

const (
	// centreRounds is the number of rounds whose mean is the centre. The distances of the other
	// rounds from it are the sample with which later distances are compared.
	centreRounds = 12
	// LeastRounds is the minimum number of rounds of a reference. With fewer, a change becomes
	// normal before the evidence suffices. With Rounds, a change is found within ten rounds.
	LeastRounds, Rounds = centreRounds + 64, centreRounds + 100
)

// Reference describes how a deployment answers. "synthetic canary record" writes it to a file.
type Reference struct {
	Version  int       `json:"version"`
	Recorded time.Time `json:"recorded"`
	Target   string    `json:"target"`
	Model    string    `json:"model"`
	// Fingerprint identifies the server's configuration; "" if the server reported none.
	Fingerprint string `json:"system_fingerprint,omitempty"`
	// Tokens is the token limit of each answer.
	Tokens int `json:"tokens"`
	// Logprobs is true if answers are compared by log-probabilities, false if by text.
	Logprobs bool `json:"logprobs"`
	// Centre holds the usual answer to each prompt.
	Centre []usualAnswer `json:"prompts"`
	// Distances are the distances of the remaining rounds from the centre.
	Distances []float64 `json:"distances"`
}

// usualAnswer is one prompt and its usual answer.
type usualAnswer struct {
	Prompt string `json:"prompt"`
	// Texts are the answers of the first rounds, including equal ones.
	Texts []string `json:"texts"`
	// Tokens are the tokens of the most frequent answer with their mean log-probabilities.
	Tokens []Token `json:"tokens,omitempty"`
}

// NewReference creates a reference from at least LeastRounds rounds. The caller sets Recorded,
// Target, Model, Fingerprint and Tokens.
func NewReference(prompts []string, rounds []Round) (*Reference, error) {
	if len(rounds) < LeastRounds {
		return nil, fmt.Errorf("%d rounds were answered; a reference needs %d", len(rounds), LeastRounds)
	}
	r := &Reference{Version: formatVersion, Logprobs: true}
	for _, round := range rounds {
		r.Logprobs = r.Logprobs && !slices.ContainsFunc(round, CanaryAnswer.lacksLogprobs)
	}
	for i, prompt := range prompts {
		r.Centre = append(r.Centre, newUsualAnswer(prompt, i, rounds[:centreRounds]))
	}
	for _, round := range rounds[centreRounds:] {
		distance, _, err := r.Compare(round)
		if err != nil {
			return nil, err
		}
		r.Distances = append(r.Distances, distance)
	}
	return r, r.checkAnswered()
}

// lacksLogprobs reports whether an answer has text but no log-probabilities.
func (a CanaryAnswer) lacksLogprobs() bool { return len(a.Tokens) == 0 && a.Text != "" }

// checkAnswered returns an error if all answers to a prompt are empty. A model that spends all
// tokens on reasoning gives empty answers, even if it changes later.
func (r *Reference) checkAnswered() error {
	for _, p := range r.Centre {
		hasText := slices.ContainsFunc(p.Texts, func(text string) bool { return text != "" })
		if len(p.Texts) == 0 || r.Logprobs && len(p.Tokens) == 0 || !r.Logprobs && !hasText {
			return fmt.Errorf("all answers to the prompt %.40q are empty: raise answers.canary.tokens, or change the prompt", p.Prompt)
		}
	}
	return nil
}

func newUsualAnswer(prompt string, i int, rounds []Round) usualAnswer {
	p := usualAnswer{Prompt: prompt}
	byText := map[string][]CanaryAnswer{}
	usual := ""
	for _, round := range rounds {
		a := round[i]
		p.Texts = append(p.Texts, a.Text)
		if byText[a.Text] = append(byText[a.Text], a); len(byText[a.Text]) > len(byText[usual]) {
			usual = a.Text
		}
	}
	same := byText[usual]
	for t, token := range same[0].Tokens {
		sum := 0.0
		for _, a := range same {
			if t < len(a.Tokens) {
				sum += a.Tokens[t].Logprob
			}
		}
		p.Tokens = append(p.Tokens, Token{Text: token.Text, Logprob: sum / float64(len(same))})
	}
	return p
}

// Prompts returns the texts of the prompts.
func (r *Reference) Prompts() []string {
	var out []string
	for _, p := range r.Centre {
		out = append(out, p.Prompt)
	}
	return out
}

// Compare returns the mean distance of a round from the centre, and the index of the prompt with
// the largest one. A round without the log-probabilities of the reference is an error: the
// server has changed, not necessarily the model.
func (r *Reference) Compare(round Round) (distance float64, worst int, err error) {
	if len(round) != len(r.Centre) {
		return 0, 0, fmt.Errorf("the round has %d answers to %d prompts", len(round), len(r.Centre))
	}
	sum, largest := 0.0, -1.0
	for i, a := range round {
		if r.Logprobs && a.lacksLogprobs() {
			return 0, 0, errors.New("an answer has no log-probabilities, but the reference has; record the reference again")
		}
		d := r.Centre[i].textDistance(a.Text)
		if r.Logprobs {
			d = tokenDistance(r.Centre[i].Tokens, a.Tokens)
		}
		if sum += d; d > largest {
			largest, worst = d, i
		}
	}
	return sum / float64(len(r.Centre)), worst, nil
}

// Encode returns the reference as the JSON of its file.
func (r *Reference) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", " ")
	return append(text, '\n'), err
}

// maxFile is the maximum size of a file in bytes.
const maxFile = 16 << 20

// Read reads a file that contains the result of Encode.
func Read(path string) (*Reference, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes; a reference has at most %d", path, info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Reference
	if err = atomicfile.ParseJSON(data, &r); err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid reference: %w; record it again with \"synthetic canary record\"", path, err)
	}
	return &r, nil
}

func (r *Reference) check() error {
	switch {
	case r.Version != formatVersion:
		return fmt.Errorf("it has format version %d, and this program reads version %d", r.Version, formatVersion)
	case len(r.Centre) == 0 || r.Tokens < 1 || r.Model == "":
		return errors.New("it lacks prompts, tokens or a model")
	case len(r.Distances) < LeastRounds-centreRounds:
		return fmt.Errorf("it has %d distances and needs %d", len(r.Distances), LeastRounds-centreRounds)
	}
	return r.checkAnswered()
}

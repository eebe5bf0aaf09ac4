package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// version is that of the file's format.
const version = 1

const (
	// centreRounds are averaged; the distances of the others from that are what
	// distances of later rounds are compared with.
	centreRounds = 12
	// LeastRounds is how many rounds a reference needs: with fewer a change becomes
	// the usual before it is sure. Rounds is how many find one within ten more.
	LeastRounds, Rounds = centreRounds + 64, centreRounds + 100
)

// Reference is how a deployment answers: a file that synthetic canary record
// writes.
type Reference struct {
	Version  int       `json:"version"`
	Recorded time.Time `json:"recorded"`
	Target   string    `json:"target"`
	Model    string    `json:"model"`
	// Fingerprint is the server's own name of its configuration, "" if it gave none.
	Fingerprint string `json:"system_fingerprint,omitempty"`
	// Tokens were asked for in each answer. Logprobs says that they are compared
	// by their log-probabilities, and otherwise by the texts.
	Tokens   int  `json:"tokens"`
	Logprobs bool `json:"logprobs"`
	// Centre is what the prompts were usually answered with.
	Centre []Prompt `json:"prompts"`
	// Distances are those of the remaining rounds from it.
	Distances []float64 `json:"distances"`
}

// Prompt is one of them.
type Prompt struct {
	Prompt string `json:"prompt"`
	// Texts are those of the first rounds, repeated as they came, and Tokens the
	// most frequent answer's, each with its mean log-probability.
	Texts  []string `json:"texts"`
	Tokens []Token  `json:"tokens,omitempty"`
}

// NewReference makes one of at least LeastRounds rounds; what it does not know
// is left to the caller.
func NewReference(prompts []string, rounds []Round) (*Reference, error) {
	if len(rounds) < LeastRounds {
		return nil, fmt.Errorf("%d rounds were answered: a reference needs %d to know what is usual", len(rounds), LeastRounds)
	}
	r := &Reference{Version: version, Logprobs: true}
	for _, round := range rounds {
		for _, a := range round {
			r.Logprobs = r.Logprobs && !a.unlikely()
		}
	}
	for i, prompt := range prompts {
		r.Centre = append(r.Centre, centre(prompt, i, rounds[:centreRounds]))
	}
	for _, round := range rounds[centreRounds:] {
		r.Distances = append(r.Distances, r.distance(round))
	}
	return r, r.answered()
}

// unlikely reports whether an answer came without log-probabilities, as against
// without anything that could have them.
func (a CanaryAnswer) unlikely() bool { return len(a.Tokens) == 0 && a.Text != "" }

// answered refuses prompts that were answered with nothing: nothing is what a
// model whose tokens are all thought goes on to say, whatever becomes of it.
func (r *Reference) answered() error {
	for _, p := range r.Centre {
		some := slices.ContainsFunc(p.Texts, func(text string) bool { return text != "" })
		if len(p.Texts) == 0 || r.Logprobs && len(p.Tokens) == 0 || !r.Logprobs && !some {
			return fmt.Errorf("the prompt %.40q was answered with nothing: raise answers.canary.tokens, or ask another", p.Prompt)
		}
	}
	return nil
}

// centre is the usual answer to prompt i.
func centre(prompt string, i int, rounds []Round) Prompt {
	p := Prompt{Prompt: prompt}
	alike := map[string][]CanaryAnswer{}
	usual := ""
	for _, round := range rounds {
		a := round[i]
		p.Texts = append(p.Texts, a.Text)
		if alike[a.Text] = append(alike[a.Text], a); len(alike[a.Text]) > len(alike[usual]) {
			usual = a.Text
		}
	}
	same := alike[usual]
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

// Prompts are those that are asked.
func (r *Reference) Prompts() []string {
	var out []string
	for _, p := range r.Centre {
		out = append(out, p.Prompt)
	}
	return out
}

// Compare returns the distance of a round, and the prompt whose answer is
// farthest from its usual one. A round without the log-probabilities that the
// reference has is not compared: that is no other model, but another server.
func (r *Reference) Compare(round Round) (distance float64, worst int, err error) {
	if len(round) != len(r.Centre) {
		return 0, 0, fmt.Errorf("%d answers to %d prompts", len(round), len(r.Centre))
	}
	most := -1.0
	for i := range round {
		if r.Logprobs && round[i].unlikely() {
			return 0, 0, errors.New("an answer came without the log-probabilities that the reference has; record it anew if the server gives them no more")
		}
		one := Reference{Logprobs: r.Logprobs, Centre: r.Centre[i : i+1]}
		if d := one.distance(round[i : i+1]); d > most {
			most, worst = d, i
		}
	}
	return r.distance(round), worst, nil
}

// Encode is the text of the file.
func (r *Reference) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", " ")
	return append(text, '\n'), err
}

// mostFile bounds a file that is read, in bytes.
const mostFile = 16 << 20

// Read reads a file of Encode.
func Read(path string) (*Reference, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostFile {
		return nil, fmt.Errorf("%s has %d bytes: no reference has more than %d", path, info.Size(), mostFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Reference
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is no reference (%w): record it anew with synthetic canary record", path, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w: record it anew with synthetic canary record", path, err)
	}
	return &r, nil
}

func (r *Reference) check() error {
	switch {
	case r.Version != version:
		return fmt.Errorf("the format has version %d, and this program reads %d", r.Version, version)
	case len(r.Centre) == 0 || r.Tokens < 1 || r.Model == "":
		return errors.New("it has no prompts, asks for no tokens, or of no model")
	case len(r.Distances) < LeastRounds-centreRounds:
		return fmt.Errorf("it has %d distances, and needs %d", len(r.Distances), LeastRounds-centreRounds)
	}
	return r.answered()
}

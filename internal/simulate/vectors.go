package simulate

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
)

const dimensions = 64

func readEmbeddings(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Model string `json:"model"`
		Input texts  `json:"input"`
	}
	err := json.Unmarshal(body, &in)
	q.Model = in.Model
	q.setInputs(in.Input, in.Input)
	return err
}

func readRerank(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Model     string `json:"model"`
		Query     string `json:"query"`
		Documents texts  `json:"documents"`
	}
	err := json.Unmarshal(body, &in)
	q.Model, q.query = in.Model, in.Query
	q.setInputs(append(texts{in.Query}, in.Documents...), in.Documents)
	return err
}

// setInputs makes the request one for embeddings or scores. It costs the engine the prompt and one
// step.
func (q *chatRequest) setInputs(prompt, inputs texts) {
	q.setPrompt(prompt)
	q.inputs, q.MaxCompletionTokens = inputs, new(1)
}

// vector returns the unit vector of a text. The same model gives the same vector.
func (t *turn) vector(text string, n int) []float64 {
	r := rand.New(rand.NewPCG(t.options.Seed^t.modelKey, hashOf(text)))
	out, norm := make([]float64, n), 0.0
	for i := range out {
		out[i] = r.NormFloat64()
		norm += out[i] * out[i]
	}
	for i := range out {
		out[i] /= math.Sqrt(norm)
	}
	return out
}

func wholeEmbeddings(a *responder) any {
	t := a.turn
	data := []any{}
	for i, text := range t.request.inputs {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": t.vector(text, dimensions)})
	}
	return map[string]any{"id": t.id, "object": "list", "model": t.model, "data": data, "usage": t.promptUsage()}
}

func wholeRerank(a *responder) any {
	t := a.turn
	type result struct {
		Index    int               `json:"index"`
		Document map[string]string `json:"document"`
		Score    float64           `json:"relevance_score"`
	}
	results := []result{}
	for i, text := range t.request.inputs {
		score := (1 + t.vector(t.request.query+"\n"+text, 2)[0]) / 2
		results = append(results, result{i, map[string]string{"text": text}, score})
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.Score, a.Score) })
	return map[string]any{"id": t.id, "object": "list", "model": t.model, "results": results, "usage": t.promptUsage()}
}

func (t *turn) promptUsage() map[string]int {
	return map[string]int{"prompt_tokens": t.promptTokens, "total_tokens": t.promptTokens}
}

package simulate

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
)

// dimensions is the length of an embedding unless the request says another.
const dimensions = 64

// readEmbeddings decodes a request of /v1/embeddings. An engine reads all input
// and computes one step.
func readEmbeddings(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Model      string `json:"model"`
		Input      texts  `json:"input"`
		Dimensions int    `json:"dimensions"`
	}
	err := json.Unmarshal(body, &in)
	q.Model, q.dimensions = in.Model, in.Dimensions
	q.score(in.Input, in.Input)
	return err
}

// readRerank decodes a request of /v1/rerank.
func readRerank(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Model     string `json:"model"`
		Query     string `json:"query"`
		Documents texts  `json:"documents"`
		TopN      int    `json:"top_n"`
	}
	err := json.Unmarshal(body, &in)
	q.Model, q.query, q.topN = in.Model, in.Query, in.TopN
	q.score(append(texts{in.Query}, in.Documents...), in.Documents)
	return err
}

// score makes a request one for a figure of each input: all of the prompt is
// read, and nothing is said.
func (q *chatRequest) score(prompt, inputs texts) {
	one := 1
	q.prompt(prompt)
	q.inputs, q.MaxCompletionTokens = inputs, &one
}

// vector is the unit vector of a text, always the same from one model.
func (t *turn) vector(text string, n int) []float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	r := rand.New(rand.NewPCG(t.options.Seed^t.key, h.Sum64()))
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
	t, n := a.turn, a.turn.request.dimensions
	if n < 1 {
		n = dimensions
	}
	data := []any{}
	for i, text := range t.request.inputs {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": t.vector(text, n)})
	}
	return map[string]any{"id": t.id, "object": "list", "model": t.model, "data": data, "usage": t.read()}
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
	if n := t.request.topN; n > 0 && n < len(results) {
		results = results[:n]
	}
	return map[string]any{"id": t.id, "object": "list", "model": t.model, "results": results, "usage": t.read()}
}

// read is the usage of a request that is not answered in tokens.
func (t *turn) read() map[string]int {
	return map[string]int{"prompt_tokens": t.promptTokens, "total_tokens": t.promptTokens}
}

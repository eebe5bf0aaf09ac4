package simulate

import (
	"encoding/json"
	"net/http"
)

// readCompletion decodes a request of /v1/completions: a prompt without roles.
func readCompletion(_ *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Prompt   texts `json:"prompt"`
		Logprobs *int  `json:"logprobs"`
	}
	// Elsewhere the field is true or false.
	plain := struct {
		*chatRequest
		Logprobs json.RawMessage `json:"logprobs"`
	}{chatRequest: q}
	if err := json.Unmarshal(body, &plain); err != nil {
		return err
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.prompt(in.Prompt)
	if in.Logprobs != nil {
		q.Logprobs, q.TopLogprobs = true, *in.Logprobs
	}
	return nil
}

// completionEvents are the chunks of a streamed completion.
type completionEvents struct{ chunks }

func streamCompletion(a *responder) events { return completionEvents{a.chunks("text_completion")} }

// piece takes reasoning for text as any other.
func (s completionEvents) piece(p piece) { s.text(p, "null") }

func (s completionEvents) end() {
	s.text(piece{}, `"`+s.turn.finish+`"`)
	s.done()
}

func (s completionEvents) text(p piece, finish string) {
	s.choice(`"text":`+encode(p.reasoning+p.content), encode(legacyLogprobs(p.logprobs)), finish)
}

// wholeCompletion is a text_completion.
func wholeCompletion(a *responder) any {
	return a.turn.object("text_completion", map[string]any{
		"index": 0, "text": a.reasoning.String() + a.content.String(), "logprobs": legacyLogprobs(a.logprobs), "finish_reason": a.turn.finish,
	})
}

// legacyLogprobs is the form that completions have them in; nil for none.
func legacyLogprobs(all []logprob) any {
	if len(all) == 0 {
		return nil
	}
	var tokens []string
	var values []float64
	var top []map[string]float64
	for _, l := range all {
		tokens, values = append(tokens, l.Token), append(values, l.Logprob)
		others := map[string]float64{}
		for _, o := range l.Top {
			others[o.Token] = o.Logprob
		}
		top = append(top, others)
	}
	return map[string]any{"tokens": tokens, "token_logprobs": values, "top_logprobs": top}
}

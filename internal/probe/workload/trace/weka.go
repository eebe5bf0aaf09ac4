package trace

import (
	"fmt"
	"hash/fnv"
	"time"
)

// weka is a session of WEKA's agentic corpora, which AIPerf and InferenceX replay. The hash_ids of a
// request describe its whole prompt.
type weka struct {
	graph
	ID        label
	BlockSize int
	Scope     string
	found     bool
	// relative says that the times of sub-agents count from their own start.
	relative bool
	subs     []wekaAgent
}

// wekaRequest is a request (type n or s) or a sub-agent with its own requests (type subagent).
// Times are in seconds since the start of the session.
type wekaRequest struct {
	At       float64       `json:"t"`
	Type     string        `json:"type"`
	Input    int           `json:"in"`
	Output   int           `json:"out"`
	HashIDs  []uint64      `json:"hash_ids"`
	APITime  float64       `json:"api_time"`
	Duration float64       `json:"duration_ms"` // of a sub-agent, 0 if unknown
	Requests []wekaRequest `json:"requests"`
}

// wekaAgent is the range of steps of a sub-agent, which was started at a time.
type wekaAgent struct {
	from, to int
	at       time.Duration
}

// clockError is how much earlier than its sub-agent a request may start, because the two times are measured
// separately.
const clockError = time.Second

func (w *weka) read(s *sessionReader) error {
	if w.agents == nil {
		w.addAgent(-1)
	}
	var r wekaRequest
	if err := s.decode(&r); err != nil {
		return err
	}
	if r.Type != "subagent" {
		return w.addRequest(&r, 0)
	}
	at, err := seconds("t", r.At)
	if err != nil {
		return err
	}
	took, err := scaleTime("duration_ms", max(r.Duration, 0), time.Millisecond)
	if err != nil {
		return err
	}
	sub := wekaAgent{from: len(w.steps), at: at}
	agent := w.addAgent(0)
	w.agents[agent].end = at + took
	for i := range r.Requests {
		if err := w.addRequest(&r.Requests[i], agent); err != nil {
			return fmt.Errorf("requests[%d]: %w", i, err)
		}
		w.relative = w.relative || w.steps[len(w.steps)-1].start < at-clockError
	}
	sub.to = len(w.steps)
	w.subs = append(w.subs, sub)
	return nil
}

func (w *weka) addRequest(r *wekaRequest, agent int) error {
	if r.Type != "n" && r.Type != "s" {
		return fmt.Errorf("type is %.20q; write n, s or, in the list of the session, subagent", r.Type)
	}
	if r.Input <= 0 || r.Input > maxTokens {
		return tokensError("in", fmt.Sprint(r.Input))
	}
	if r.Output < 0 || r.Output > maxTokens {
		return tokensError("out", fmt.Sprint(r.Output))
	}
	start, err := seconds("t", r.At)
	if err != nil {
		return err
	}
	took, err := seconds("api_time", max(r.APITime, 0))
	if err != nil {
		return err
	}
	w.add(step{agent: agent, start: start, end: start + took, turn: Turn{Prompt: r.Input, Output: max(r.Output, 1), Blocks: r.HashIDs}})
	return w.fits()
}

// finish corrects what depends on keys behind the requests, and on all of them. The corpora count the
// times of sub-agents from the start of the session, the recorder from the start of the sub-agent.
func (w *weka) finish() error {
	if w.BlockSize <= 0 || w.BlockSize > maxTokens {
		return fmt.Errorf("block_size is %d; write the tokens of a block of hash_ids", w.BlockSize)
	}
	for i := range w.steps {
		w.steps[i].turn.BlockTokens = w.BlockSize
	}
	if w.Scope != "global" {
		w.scopeBlocks(string(w.ID))
	}
	for _, sub := range w.subs {
		for i := sub.from; w.relative && i < sub.to; i++ {
			w.steps[i].start += sub.at
			w.steps[i].end += sub.at
		}
	}
	return nil
}

// scopeBlocks renames blocks whose names mean something within a session only.
func (g *graph) scopeBlocks(session string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(session)) // never fails
	scope := h.Sum64()
	for i := range g.steps {
		for k, block := range g.steps[i].turn.Blocks {
			g.steps[i].turn.Blocks[k] = (block ^ scope) * 0x9e3779b97f4a7c15
		}
	}
}

package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"synthetic/internal/atomicfile"
)

// maxOpen bounds the memory of the sessions whose requests are being collected, in bytes.
const maxOpen = 12 << 20

// dynamoEvent is a line of Dynamo's request trace, plain or within "event".
type dynamoEvent struct {
	Schema    string `json:"schema"`
	EventType string `json:"event_type"`
	EventMS   uint64 `json:"event_time_unix_ms"`
	Agent     struct {
		Session string `json:"session_id"`
		Parent  string `json:"parent_session_id"`
		// Version 1.2 of Dynamo and earlier ones name an agent a trajectory, and a whole run a session.
		Trajectory       string `json:"trajectory_id"`
		ParentTrajectory string `json:"parent_trajectory_id"`
	} `json:"agent_context"`
	Request *struct {
		ID       string  `json:"request_id"`
		Received *uint64 `json:"request_received_ms"`
		TotalMS  float64 `json:"total_time_ms"`
		Input    int     `json:"input_tokens"`
		Output   int     `json:"output_tokens"`
		Replay   struct {
			BlockTokens int      `json:"trace_block_size"`
			Input       int      `json:"input_length"`
			Hashes      []uint64 `json:"input_sequence_hashes"`
		} `json:"replay"`
	} `json:"request"`
	Tool struct {
		Claude struct {
			Child string `json:"child_session_id"`
			Mode  string `json:"execution_mode"`
		} `json:"claude"`
	} `json:"tool"`
}

// names returns the names of the session and of its parent.
func (e *dynamoEvent) names() (session, parent string) {
	return cmp.Or(e.Agent.Trajectory, e.Agent.Session), cmp.Or(e.Agent.ParentTrajectory, e.Agent.Parent)
}

// step converts the end of a request.
func (e *dynamoEvent) step() (s step, err error) {
	r := e.Request
	if r == nil || r.Received == nil {
		return s, errors.New("request.request_received_ms is missing; record with a version of Dynamo that writes it")
	}
	t := Turn{Prompt: cmp.Or(r.Replay.Input, r.Input), Output: r.Output, Blocks: r.Replay.Hashes, BlockTokens: r.Replay.BlockTokens}
	switch {
	case t.Prompt <= 0 || t.Prompt > maxTokens:
		return s, fmt.Errorf("request.replay.input_length is \"%d\"; write 1 to %d tokens", t.Prompt, maxTokens)
	case t.Output < 0 || t.Output > maxTokens:
		return s, tokensError("request.output_tokens", fmt.Sprint(t.Output))
	case t.BlockTokens < 0 || t.BlockTokens > maxTokens || t.BlockTokens == 0 && len(t.Blocks) > 0:
		return s, fmt.Errorf("request.replay.trace_block_size is \"%d\"; write 1 to %d tokens", t.BlockTokens, maxTokens)
	}
	if s.start, err = scaleTime("request.request_received_ms", float64(*r.Received), time.Millisecond); err != nil {
		return s, err
	}
	took := time.Duration(0)
	if r.TotalMS > 0 {
		took, err = scaleTime("request.total_time_ms", r.TotalMS, time.Millisecond)
	} else if e.EventMS > *r.Received {
		took, err = scaleTime("event_time_unix_ms", float64(e.EventMS-*r.Received), time.Millisecond)
	}
	s.id, s.end, s.turn = r.ID, s.start+took, t
	return s, err
}

// sessionTable collects the requests of sessions that are mixed in the file. It is bounded: when it is
// full, the sessions that began first leave it, and their later requests count as sessions of their own.
type sessionTable struct {
	// trees holds each session with its sub-agents by the name of every one of them.
	trees map[string]*tree
	// bytes is the memory of the trees, most its limit.
	bytes, most int
	// lastStart is the start of the latest step. lastTaken is the start of the latest session that left.
	lastStart, lastTaken time.Duration
	// isCut says that sessions have left the table although later requests can belong to them.
	isCut bool
}

type tree struct {
	graph
	name   string
	agents map[string]int // indexes of graph.agents
	start  time.Duration
}

func newSessionTable() *sessionTable { return &sessionTable{trees: map[string]*tree{}, most: maxOpen} }

// dynamo parses an event of Dynamo's request trace.
func (p *parser) dynamo(b []byte, o *object) error {
	var e dynamoEvent
	if o.EventType == nil {
		b = o.Event
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return atomicfile.InJSONTerms("it", err)
	}
	return p.sessions.parse(&e)
}

// header parses the first line of agentic Mooncake.
func (p *parser) header(b []byte) error {
	var h struct {
		Schema    string `json:"schema"`
		Version   int    `json:"version"`
		BlockSize int    `json:"block_size"`
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return atomicfile.InJSONTerms("it", err)
	}
	if h.Schema != "dynamo.agentic_mooncake" || h.Version != 2 || h.BlockSize <= 0 || h.BlockSize > maxTokens {
		return fmt.Errorf("schema %.40q of version %d with block_size %d is unknown; only dynamo.agentic_mooncake of version 2 can be replayed", h.Schema, h.Version, h.BlockSize)
	}
	p.headerBlock = h.BlockSize
	return nil
}

// parse adds an event. A request without a session is a session of its own.
func (t *sessionTable) parse(e *dynamoEvent) error {
	session, parent := e.names()
	switch {
	case !strings.HasPrefix(e.Schema, "dynamo.") || !strings.HasSuffix(e.Schema, ".trace.v1"):
		return fmt.Errorf("schema is %.40q; only dynamo.request.trace.v1 and dynamo.agent.trace.v1 can be replayed", e.Schema)
	case strings.HasPrefix(e.EventType, "tool") && e.Tool.Claude.Mode == "background" && e.Tool.Claude.Child != "":
		tree := t.tree(e.Tool.Claude.Child, session)
		tree.graph.agents[tree.agents[e.Tool.Claude.Child]].background = true
		return tree.fits()
	case e.EventType != "request_end": // the times of tools are those between the requests
		return nil
	}
	s, err := e.step()
	if err != nil {
		return err
	}
	if session = cmp.Or(session, s.id); session == "" {
		return errors.New("request.request_id is missing; write one")
	}
	return t.add(session, parent, s)
}

func (t *sessionTable) add(session, parent string, s step) error {
	tree := t.tree(session, parent)
	if len(tree.steps) == 0 || s.start < tree.start {
		tree.start = s.start
	}
	s.agent = tree.agents[session]
	before := tree.bytes
	tree.add(s)
	t.bytes += tree.bytes - before
	return tree.fits()
}

// tree returns the tree of a session, which has an agent for it.
func (t *sessionTable) tree(session, parent string) *tree {
	own, above := t.trees[session], t.trees[parent]
	if parent == "" || parent == session {
		above = nil
	}
	switch {
	case own == nil && above == nil:
		own = &tree{name: cmp.Or(parent, session), agents: map[string]int{}}
		t.put(own, own.name, -1)
		if own.name != session {
			t.put(own, session, own.agents[own.name])
		}
	case own == nil:
		own = above
		t.put(own, session, own.agents[parent])
	case above != nil && own != above: // it is known only now whose child the session is
		own = t.merge(own, above, parent)
	case parent != "" && above == nil && own.graph.agents[own.agents[session]].parent < 0 && parent != session:
		t.put(own, parent, -1)
		own.graph.agents[own.agents[session]].parent = own.agents[parent]
	}
	return own
}

func (t *sessionTable) put(to *tree, session string, parent int) {
	to.agents[session] = to.addAgent(parent)
	t.trees[session] = to
	cost := agentCost + 2*len(session)
	if to.agents[session] == 0 {
		cost += treeCost
	}
	to.bytes += cost
	t.bytes += cost
}

// merge makes the tree own a part of the tree above, below its agent parent. It copies the smaller one, and
// returns the other.
func (t *sessionTable) merge(own, above *tree, parent string) *tree {
	root := slices.IndexFunc(own.graph.agents, func(a agent) bool { return a.parent < 0 })
	small, big := own, above
	if len(own.steps) > len(above.steps) {
		small, big = above, own
		root -= len(big.graph.agents) // counted from the agents that are added
	}
	steps, agents := len(big.steps), len(big.graph.agents)
	for _, a := range small.graph.agents {
		if a.parent >= 0 {
			a.parent += agents
		}
		if a.last >= 0 {
			a.last += steps
		}
		big.graph.agents = append(big.graph.agents, a)
	}
	for _, s := range small.steps {
		s.agent += agents
		s.turn.Base += steps
		big.steps = append(big.steps, s)
	}
	for name, i := range small.agents {
		big.agents[name] = i + agents
		t.trees[name] = big
	}
	big.graph.agents[agents+root].parent = big.agents[parent]
	if len(small.steps) > 0 && (small.start < big.start || steps == 0) {
		big.start = small.start
	}
	big.bytes += small.bytes
	big.name = above.name
	big.named = own.named || above.named
	return big
}

// take removes the sessions that began first until a quarter of the table is free, or with all every
// session, and returns them by start. A session that began before one that has left begins with that one. Its
// errors name the session.
func (t *sessionTable) take(all bool) (out []Record, err error) {
	unique := map[*tree]bool{}
	for _, tree := range t.trees {
		unique[tree] = true
	}
	t.isCut = t.isCut || !all
	trees := slices.SortedFunc(maps.Keys(unique), func(a, b *tree) int {
		return cmp.Or(cmp.Compare(a.start, b.start), strings.Compare(a.name, b.name))
	})
	for _, tree := range trees {
		if !all && t.bytes <= t.most/4*3 {
			break
		}
		for name := range tree.agents {
			delete(t.trees, name)
		}
		t.bytes -= tree.bytes
		if len(tree.steps) > 0 {
			tree.cut = t.isCut
			r, err := tree.record(tree.name)
			if err != nil {
				return nil, fmt.Errorf("session %.40q: %w", tree.name, err)
			}
			t.lastTaken = max(t.lastTaken, r.At) // the request that tells of a session can end much later
			r.timed, r.At = true, t.lastTaken
			out = append(out, r)
		}
	}
	return out, nil
}

// collect returns the records of next, and the sessions of the table.
func (t *sessionTable) collect(next source) source {
	ended := false // next must not be called again
	return func() ([]Record, error) {
		if ended {
			return nil, io.EOF
		}
		records, err := next()
		switch ended = err == io.EOF; {
		case ended && len(t.trees) > 0:
			return t.take(true)
		case err == nil && t.bytes > t.most:
			var sessions []Record
			sessions, err = t.take(false)
			records = append(records, sessions...)
		}
		return records, err
	}
}

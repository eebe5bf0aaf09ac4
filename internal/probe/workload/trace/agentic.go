package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"synthetic/internal/atomicfile"
)

// agenticRow is what Dynamo's agentic Mooncake adds to Mooncake, in versions 1 and 2: the dependencies of
// a request. Times are in milliseconds.
type agenticRow struct {
	RequestID string   `json:"request_id"`
	PlayID    string   `json:"play_id"`
	NotBefore *float64 `json:"not_before_ms"`
	WaitFor   []string `json:"wait_for"`
	ToolWait  float64  `json:"tool_wait_ms"`
	Needs     []struct {
		RequestID string  `json:"request_id"`
		Trigger   string  `json:"trigger"`
		DelayMS   float64 `json:"delay_ms"`
	} `json:"dependencies"`
}

// agentic parses a request with dependencies and adds it to the sessions.
func (p *parser) agentic(b []byte, o *object) error {
	var row agenticRow
	if err := json.Unmarshal(b, &row); err != nil {
		return atomicfile.InJSONTerms("it", err)
	}
	if o.Input == nil || row.RequestID == "" || o.Session == "" {
		return errors.New("request_id, session_id or input_length is missing; write all of them")
	}
	turn, err := p.turn(o, cmp.Or(p.headerBlock, mooncakeBlock))
	if err != nil {
		return err
	}
	turn.After = 0 // delay is that of the dependencies
	if len(turn.Messages) > 0 {
		turn.Blocks = nil // the texts are the prompt
	}
	s := step{id: row.RequestID, turn: turn, start: p.sessions.lastStart}
	if row.NotBefore != nil {
		s.start, err = scaleTime("not_before_ms", *row.NotBefore, time.Millisecond)
	} else if o.hasTime() {
		s.start, err = parseTime("timestamp", string(o.Timestamp), time.Millisecond)
	}
	if err != nil {
		return err
	}
	p.sessions.lastStart, s.end = s.start, s.start
	play := row.PlayID
	for _, n := range row.Needs {
		delay, err := scaleTime("delay_ms", n.DelayMS, time.Millisecond)
		if err != nil {
			return err
		}
		if n.Trigger != "dispatch" && n.Trigger != "completion" {
			return fmt.Errorf("trigger is %.20q; write dispatch or completion", n.Trigger)
		}
		s.named = append(s.named, namedNeed{n.RequestID, Need{Sent: n.Trigger == "dispatch", Delay: delay}})
	}
	wait, err := scaleTime("delay and tool_wait_ms", o.Delay+row.ToolWait, time.Millisecond)
	if err != nil {
		return err
	}
	for _, id := range row.WaitFor {
		s.named = append(s.named, namedNeed{id, Need{Delay: wait}})
		if root, known := p.chats.get(id); known && play == "" {
			play = root
		}
	}
	session := string(o.Session)
	if row.PlayID != "" { // plays may use the same names of sessions
		session = play + "\x00" + session
	}
	tree := p.sessions.tree(session, play)
	tree.graph.named = true
	p.chats.put(row.RequestID, tree.name)
	return p.sessions.add(session, play, s)
}

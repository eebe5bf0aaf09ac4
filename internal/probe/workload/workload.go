// Package workload describes conversations and their traffic: prompts, arrival process and token budget.
// Package config/yamlform reads the tags of its types.
package workload

import (
	"time"

	"synthetic/internal/probe/answers/recall"
)

// Spec is one kind of conversation.
type Spec struct {
	// Name is the value of the "workload" label.
	Name string `yaml:"name" default:"chat"`
	Seed uint64 // determines texts, draws and think times
	// The number of turns is drawn uniformly from TurnsMin to TurnsMax.
	TurnsMin, TurnsMax int
	// PromptTokens is the length of the first user message in tokens.
	PromptTokens int `yaml:"prompt_tokens" default:"500" min:"1" max:"2000000"`
	// FollowupTokens is the length of a generated follow-up question in tokens.
	FollowupTokens int
	// Starters is the number of different opening texts that the conversations share, for
	// prefix reuse between conversations. 0 makes each opening unique, so that first turns are uncached.
	Starters int `yaml:"starters" default:"0" min:"0" max:"1000000"`
	// MaxOutputTokens limits each answer; 0 sends no limit.
	MaxOutputTokens int `yaml:"max_output_tokens" default:"128" min:"0" max:"2000000"`
	Content
	// Trace is recorded traffic that replaces generated texts; see package trace.
	Trace Trace `yaml:"trace" examples:"{file: trace.jsonl}"`
	Answers
	Users
	Timeouts Timeouts `yaml:"timeouts" examples:"{first_token: 30s, stall: 10s, total: 120s}"`
}

// UniqueOpenings reports whether each conversation begins with a generated text of its own.
func (s *Spec) UniqueOpenings() bool {
	return s.Starters == 0 && s.Trace.File == ""
}

// SharesTexts reports whether conversations share a text, which one may find in the prefix cache of another.
func (s *Spec) SharesTexts() bool {
	return !s.UniqueOpenings() || s.System != "" || s.SystemTokens > 0 || s.Tools != nil
}

// Content is what is sent besides texts of a certain length.
type Content struct {
	// System is the system message, or "".
	System string `yaml:"system" group:"system" examples:"You are a helpful assistant."`
	// SystemTokens is the length of a generated system message in tokens; 0 sends System. All
	// conversations share its text.
	SystemTokens int `yaml:"system_tokens" group:"system" min:"1" max:"2000000" examples:"8000"`
	// ContextTokens ends a generated conversation before a turn whose prompt and answer would
	// exceed it. The first turn is always sent. 0 means no limit.
	ContextTokens int `yaml:"context_tokens" min:"1" max:"10000000" examples:"100000"`
	// Images are files for the first user message. APIs without images omit them.
	Images []string `yaml:"images" min:"1" max:"100" examples:"[cat.png]"`
	// Followups are scripted follow-up questions. Each conversation starts with the first. If
	// empty, questions are generated.
	Followups []string
	// Recall is the share of follow-ups that ask for a reference code of the conversation. Above 0,
	// generated conversations contain codes; see package recall.
	Recall float64
	// Dists replace the fixed lengths. The fixed values are then about their means.
	Dists Dists `yaml:"distributions" examples:"{prompt_tokens: {mean: 800, sd: 600}}"`
}

// Answers is what the requests ask for, and what the answers must be.
type Answers struct {
	Temperature *float64  `yaml:"temperature" min:"0" max:"2" examples:"0"` // nil sends none
	Reasoning   Reasoning `yaml:"reasoning" enum:"drop,echo" examples:"echo"`
	// Check is a regular expression (RE2) that must match in each answer; "" accepts every answer.
	Check string
	Tools []Tool `yaml:"tools" min:"1" max:"128" examples:"[{name: get_time, result: \"12:00\"}]"`
	// ToolChoice is sent with each user message: auto, required, none, a tool's name, or "" to omit it.
	ToolChoice string `yaml:"tool_choice" examples:"auto | required | get_time"`
	// ResponseSchema is the JSON schema that the text of each answer must follow, or nil.
	ResponseSchema map[string]any `yaml:"response_schema" examples:"{type: object, properties: {city: {type: string}}, required: [city]}"`
}

// Users is how users behave.
type Users struct {
	// ThinkMin and ThinkMax bound the pause before a follow-up turn.
	ThinkMin, ThinkMax time.Duration
	Cancel             Cancel
}

// Reasoning says whether reasoning texts are sent back in the history.
type Reasoning string

const (
	// Drop omits them, as most chat templates expect. "" means Drop too.
	Drop Reasoning = "drop"
	// Echo sends them back in the field that the server uses.
	Echo Reasoning = "echo"
)

// Cancel makes users cancel a Share of the turns. A turn is closed at a random time between Min
// and Max after it was sent, unless it has ended.
type Cancel struct {
	Share    float64
	Min, Max time.Duration
}

// Timeouts bound one turn. They start when it is sent, except Stall, which bounds the time between two
// tokens.
type Timeouts struct {
	FirstToken time.Duration `yaml:"first_token" default:"30s" min:"1ms"`
	Stall      time.Duration `yaml:"stall" default:"10s" min:"1ms"`
	Total      time.Duration `yaml:"total" default:"120s" min:"1ms"`
}

// Conversation is one planned conversation.
type Conversation struct {
	ID    uint64 // unique within one runner of a job
	Turns int    // at least 1
	// Opening is the history up to and including the first user message.
	Opening []Message
	// Followups are the user messages of turn 2 and later, Think the pauses before.
	Followups []string
	Think     []time.Duration
	// References are the codes in the texts; reference n is at index n-1. Asked has the number of the
	// reference that each follow-up asks for, 0 for none. Both are empty without Spec.Recall.
	References []recall.Code
	Asked      []int
	// Outputs are the token limits of the turns. Where one is 0 or missing, Spec.MaxOutputTokens
	// applies.
	Outputs []int
	// Patience is how long after sending the user closes each turn; 0 means never. It is empty if no
	// turn is cancelled.
	Patience []time.Duration
	// CharsOpening is the number of characters of the opening, from which the source learns the
	// characters per token. 0 means unknown.
	CharsOpening int
}

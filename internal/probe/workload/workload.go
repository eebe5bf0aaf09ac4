// Package workload describes what is said to a deployment and when: the
// conversations, their prompts, the arrival process and the token budget.
package workload

import "time"

// Spec is one kind of conversation.
type Spec struct {
	// Name is the value of the "workload" label.
	Name string
	// TurnsMin and TurnsMax bound the turns of a conversation, drawn uniformly.
	TurnsMin, TurnsMax int
	// PromptTokens is the wanted length of the first user message in tokens.
	PromptTokens int
	// FollowupTokens is the wanted length of a generated follow-up question.
	FollowupTokens int
	// Starters is how many distinct opening texts the conversations share
	// (prefix reuse between conversations); 0 makes each opening unique.
	Starters int
	// Seed makes texts, draws and think times repeatable.
	Seed uint64
	// System is the optional system message.
	System string
	// Images are files that the first user message of each conversation has,
	// read once; APIs without images leave them out.
	Images []string
	// MaxOutputTokens limits each answer; 0 sends no limit.
	MaxOutputTokens int
	// Temperature is sent when not nil, 0 included.
	Temperature *float64
	// Reasoning says what becomes of a model's reasoning in the history.
	Reasoning Reasoning
	// Placeholder stands in the history for an answer without content; with ""
	// the conversation ends there.
	Placeholder string
	// ReasoningEffort is sent when not empty: low, medium, high, or what else
	// the server knows.
	ReasoningEffort string
	// ChatTemplate holds the arguments of the model's chat template
	// (chat_template_kwargs), as decoded from YAML; sent when not nil.
	ChatTemplate map[string]any
	// ThinkMin and ThinkMax bound the pause before a follow-up turn.
	ThinkMin, ThinkMax time.Duration
	// Followups is the script of follow-up questions, used in turn, from the
	// first again in each conversation; empty means generated ones.
	Followups []string
	// ConversationsFile is a JSONL file of conversations to replay in turn
	// instead of generated text; empty for none. Each line is an object with
	// "messages" (role and content, as in OpenAI's API) or "conversations"
	// (from and value, as ShareGPT has them). Their user messages become the
	// turns, at most TurnsMax; their assistant messages are left out, since the
	// deployment's own answers go into the history.
	ConversationsFile string
	// Trace is recorded traffic to replay instead, see package trace.
	Trace Trace
	// Dists draw lengths, turns and pauses in place of what stands above; where
	// they do, that is about their mean.
	Dists
	// Clients are classes of conversations, each with its own distributions and
	// arrivals; empty for none.
	Clients []Client
	// Cancel says which turns the user does not wait for.
	Cancel Cancel
	// Check is the optional check of the answers' content.
	Check Check
	// Tools may be called by the answers; none for empty.
	Tools []Tool
	// ToolChoice is sent with each message of the user: one of the choices, or the
	// name of a tool; "" sends none.
	ToolChoice string
	// Format is the form of each answer's text; nil for any.
	Format *Format
	// Compare is the share of successful turns whose request is sent again, not
	// streamed, to compare the answers; 0 for none.
	Compare float64
	// Timeouts bound each turn.
	Timeouts Timeouts
}

// Reasoning says what becomes of a model's reasoning in the history.
type Reasoning string

const (
	// Drop leaves it out, as most chat templates do and expect; "" is Drop, too.
	Drop Reasoning = "drop"
	// Echo sends it back, by the name that the server has for it.
	Echo Reasoning = "echo"
)

// Cancel is a user who goes away: a Share of turns is closed Min … Max after it was
// sent, drawn uniformly, unless it has ended by then.
type Cancel struct {
	Share    float64
	Min, Max time.Duration
}

// Check tests an answer's text; the zero value accepts everything.
type Check struct {
	// Contains must be a substring of the answer.
	Contains string
	// Regexp must match the answer (RE2).
	Regexp string
}

// Timeouts bound one turn; all are measured from the moment it is sent,
// except Stall, which is the longest wait between two tokens. Package yamlform
// reads their tags.
type Timeouts struct {
	FirstToken time.Duration `yaml:"first_token" default:"30s" min:"1ms"`
	Stall      time.Duration `yaml:"stall" default:"10s" min:"1ms"`
	Total      time.Duration `yaml:"total" default:"120s" min:"1ms"`
}

// Conversation is one planned conversation.
type Conversation struct {
	// ID is unique within the process's run of one traffic entry.
	ID uint64
	// Turns is the number of user turns to take, at least 1.
	Turns int
	// Opening is the history up to and including the first user message.
	Opening []Message
	// Followups are the user messages of turns 2 … Turns, in order. A user
	// endpoint's messages take their place while it answers.
	Followups []string
	// Think are the pauses before turns 2 … Turns.
	Think []time.Duration
	// At is when it starts by the source's own times, since the first one: those of
	// a trace, or of classes of clients at one start a second; else 0.
	At time.Duration
	// Outputs limit the answers of turns 1 … Turns in tokens, in place of
	// Spec.MaxOutputTokens, where they are not 0; shorter if none is.
	Outputs []int
	// Patience is how long after it was sent the user closes turns 1 … Turns, 0 for
	// never; empty if none is closed.
	Patience []time.Duration
	// CharsOpening is the number of characters of the opening that were asked
	// for, so that the source can learn characters per token from usage.
	CharsOpening int
}
